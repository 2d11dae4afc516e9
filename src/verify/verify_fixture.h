#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "verify/test_device.h"
#include "verify/verify.h"

namespace ktune::verify {

using model::Outcome;
using model::Role;

inline constexpr std::int64_t kN = 1024;

/// out[i] = x[i] + 1, with variants that are wrong in one way each.
class Verify : public testing::Test {
 protected:
  Verify() {
    add("reference", [](const float* x, float* out) { fill(x, out, 0, kN); });
    add("right", [](const float* x, float* out) { fill(x, out, 0, kN); });
    add("low_half", [](const float* x, float* out) { fill(x, out, 0, kN / 2); });
    add("high_half", [](const float* x, float* out) { fill(x, out, kN / 2, kN); });
    add("nothing", [](const float*, float*) {});
    add("nan", [](const float*, float* out) { std::fill(out, out + kN, std::numeric_limits<float>::quiet_NaN()); });
    add("one_off", [](const float* x, float* out) {
      fill(x, out, 0, kN);
      out[17] = 100.0f;
    });
    add("overrun", [](const float* x, float* out) {
      fill(x, out, 0, kN);
      out[kN + 2] = 0.0f;
    });
    add("underrun", [](const float* x, float* out) {
      fill(x, out, 0, kN);
      out[-1] = 0.0f;
    });
    add("changes_input", [](const float* x, float* out) {
      fill(x, out, 0, kN);
      const_cast<float*>(x)[5] = 0.0f;
    });
    plan_.op = "plus_one";
    plan_.seed = 3;
    plan_.tensors = {tensor("x", Role::kIn, {kN}), tensor("out", Role::kOut, {kN})};
    plan_.reference = {launch_of("reference", {"x", "out"})};
  }

  static void fill(const float* x, float* out, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = x[i] + 1.0f;
  }
  void add(const std::string& name, std::function<void(const float*, float*)> kernel) {
    device_.kernels[name] = [kernel](const KernelArgs& args) {
      kernel(argument<const float*>(args, 0), argument<float*>(args, 1));
    };
  }
  void create() {
    auto memory = ProblemMemory::create(device_, plan_, 0);
    ASSERT_TRUE(memory.has_value()) << memory.error().reason;
    memory_ = std::move(*memory);
  }
  model::Result<Verification> run(const std::string& kernel) {
    model::VariantPlan plan;
    plan.launches = {launch_of(kernel, {"x", "out"})};
    auto variant = load_variant(*memory_, 0, plan);
    if (!variant) return tl::unexpected(variant.error());
    return run_and_inspect(*memory_, *variant);
  }
  /// What one launch of a kernel on a set leaves.
  model::Result<Verification> launch_on(int set, const std::string& kernel) {
    model::VariantPlan plan;
    plan.launches = {launch_of(kernel, {"x", "out"})};
    const auto variant = load_variant(*memory_, 0, plan);
    EXPECT_TRUE(launch_fresh(device_, *timed_call(*memory_, *variant, set)));
    return inspect_outputs(*memory_, *variant, set);
  }
  std::string reason(const std::string& kernel) {
    const model::Result<Verification> report = run(kernel);
    if (!report) return "failure: " + report.error().reason;
    return report->ok ? "ok" : report->reason;
  }
  std::string create_failure() {
    const auto memory = ProblemMemory::create(device_, plan_, 0);
    return memory ? "ok" : memory.error().reason;
  }

  TestDevice device_;
  model::ProblemPlan plan_;
  std::unique_ptr<ProblemMemory> memory_;
};

}  // namespace ktune::verify
