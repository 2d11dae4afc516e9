#pragma once

#include <string>
#include <utility>
#include <vector>

#include "verdict/baseline.h"
#include "verdict/stored.h"

// Baselines and measurements for tests.

namespace ktune::verdict {

inline BaselineKey key_for_test() {
  BaselineKey key;
  key.device = "Fake H200";
  key.sm_count = 132;
  key.l2_bytes = 62914560;
  key.bus_bits = 6016;
  key.ecc = 1;
  key.mig = 0;
  key.power_limit_w = 700.0;
  key.driver = "580.159.04";
  key.toolkit = "NVRTC 13.0";
  key.cache_state = "cold";
  key.protocol = 2;
  return key;
}

inline model::Problem problem_for_test(std::int64_t n) {
  model::Problem problem;
  problem.op = "scale";
  problem.dims = {{"N", n}};
  problem.types = {{"scalar_t", "f32"}};
  return problem;
}

inline HistoryEntry entry_for_test(double ratio, double kernel_us = 20.0) {
  return {"2026-11-29T14:03:05Z", "abc", ratio, kernel_us, kernel_us / ratio, 0.4, 9};
}

inline BaselineKernel kernel_for_test(const std::string& op, std::int64_t n, std::vector<double> ratios,
                                      double kernel_us = 20.0) {
  BaselineKernel kernel;
  kernel.op = op;
  kernel.problem = problem_for_test(n);
  kernel.variant = "num_warps=4";
  kernel.timer = "events";
  kernel.source = "kernels/" + op + ".cu";
  kernel.control = {problem_for_test(262144), "num_warps=8", "c0"};
  kernel.control.problem.op = "copy";
  for (const double ratio : ratios) kernel.history.push_back(entry_for_test(ratio, kernel_us));
  return kernel;
}

inline Baseline baseline_for_test() {
  return {key_for_test(), {kernel_for_test("scale", 1000, {1.25}), kernel_for_test("scale", 2000, {1.0, 1.01})}};
}

/// Nine processes, each a little off its own way: the kernel takes `kernel_us`, the control `kernel_us / ratio`.
inline std::vector<ControlledFigure> processes_for_test(double kernel_us, double ratio, double spread_pct = 0.2,
                                                        int count = 9) {
  std::vector<ControlledFigure> processes;
  for (int i = 0; i < count; ++i) {
    const int steps = i - (count - 1) / 2;
    const double off = 1.0 + spread_pct / 100.0 * steps / 2.0;
    ControlledFigure& process = processes.emplace_back();
    process.kernel = {kernel_us * off, 100, false};
    process.control = {kernel_us / ratio, 100, false};
  }
  return processes;
}

}  // namespace ktune::verdict
