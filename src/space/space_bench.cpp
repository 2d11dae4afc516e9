// The target: enumerating a space whose raw product is 10^8, with ten constraints and 20,000 valid points, in under
// 2 seconds.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "space/bench_space.h"
#include "space/space.h"

namespace ktune::space {
namespace {

void enumerate_1e8_points(benchmark::State& state) {
  const model::OpSpec spec = bench_space();
  const expr::Scope scope = bench_scope();
  for (auto _ : state) {
    const Space space = enumerate(spec, scope);
    benchmark::DoNotOptimize(space.size());
    state.counters["points"] = static_cast<double>(space.enumerated());
    state.counters["valid"] = static_cast<double>(space.size());
  }
}
BENCHMARK(enumerate_1e8_points)->Unit(benchmark::kMillisecond);

/// The worst order: every constraint needs the last axis, so that nothing is pruned on the way down.
void enumerate_1e8_points_without_pruning(benchmark::State& state) {
  model::OpSpec spec = bench_space();
  for (model::Constraint& constraint : spec.constraints) constraint.expr.text += " && MIN_BLOCKS >= 0";
  for (model::Constraint& constraint : spec.constraints) {
    constraint.expr.text = "(" + constraint.expr.text + ")";
  }
  const expr::Scope scope = bench_scope();
  for (auto _ : state) {
    const Space space = enumerate(spec, scope);
    benchmark::DoNotOptimize(space.size());
    state.counters["valid"] = static_cast<double>(space.size());
  }
}
BENCHMARK(enumerate_1e8_points_without_pruning)->Unit(benchmark::kMillisecond);

/// 20 million variants of eleven parameters, with a constraint and launches held to a device's limits. `peak_MB`: the
/// most memory the process ever had, resident.
void enumerate_2e7_variants(benchmark::State& state) {
  model::OpSpec spec;
  spec.name = "large";
  for (const std::int64_t size : {2, 10, 2, 10, 2, 10, 5, 10, 5, 10, 1}) {
    model::Parameter& parameter = spec.params.emplace_back();
    parameter.name = "PARAMETER_" + std::to_string(spec.params.size());
    for (std::int64_t i = 0; i < size; ++i) parameter.values.push_back({16 * i, ""});
  }
  spec.constraints = {{{"PARAMETER_1 + PARAMETER_10 >= 0", {}}, "rule"}};
  model::LaunchSpec& launch = spec.launches.emplace_back();
  launch.grid = {{"cdiv(N, 1 + PARAMETER_2)", {}}};
  launch.block = {{"32 + PARAMETER_4 * 2 + PARAMETER_6", {}}};
  launch.smem = {"PARAMETER_8 * PARAMETER_10", {}};
  Enumeration how;
  how.target.emplace();
  how.target->device.smem_optin = 232448;
  for (auto _ : state) {
    const Space space = enumerate(spec, bench_scope(), how);
    benchmark::DoNotOptimize(space.size());
    state.counters["valid"] = static_cast<double>(space.size());
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024.0;
}
BENCHMARK(enumerate_2e7_variants)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ktune::space
