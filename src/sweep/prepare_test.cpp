#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"
#include "sweep/sweep.h"

namespace ktune::sweep {
namespace {

model::Expression ex(std::string text) { return {std::move(text), {}}; }

/// WARPS = 8, 32, 64, and `more` parameters of ten values each that change nothing.
Work work_of(const std::string& default_warps, int more = 0) {
  model::OpSpec spec;
  spec.name = "small";
  model::Parameter warps;
  warps.name = "WARPS";
  warps.values = {{8, ""}, {32, ""}, {64, ""}};
  spec.params.push_back(warps);
  spec.defaults.emplace_back("WARPS", ex(default_warps));
  for (int i = 0; i < more; ++i) {
    model::Parameter parameter;
    parameter.name = "P" + std::to_string(i);
    for (std::int64_t value = 0; value < 10; ++value) parameter.values.push_back({value, ""});
    spec.defaults.emplace_back(parameter.name, ex("9"));
    spec.params.push_back(parameter);
  }
  model::LaunchSpec launch;
  launch.kernel = "small";
  launch.grid = {ex("1")};
  launch.block = {ex("32 * WARPS")};
  spec.launches = {launch};
  launch.block = {ex("32")};
  spec.reference = {launch};
  const auto shared = std::make_shared<const model::OpSpec>(spec);
  Work work{shared, shared, {{}}};
  work.problems.front().op = "small";
  return work;
}

model::DeviceFacts device() {
  model::DeviceFacts facts;
  facts.kind = "fake";
  facts.max_threads = 1024;
  return facts;
}

TEST(Prepare, TakesADevicesLimitsForConstraints) {
  const auto prepared = prepare({work_of("8")}, device(), 0);
  const space::Space& space = prepared.front()->space;
  EXPECT_EQ(space.size(), 2);
  EXPECT_EQ(space.rejected(), (std::map<std::string, std::int64_t>{{"more than 1024 threads a block", 1}}));
  EXPECT_EQ(prepared.front()->cost.launches, 1);
  EXPECT_EQ(why_absent(*prepared.front(), {{{"WARPS", {64, ""}}}}), "block of 2048 threads: the device allows 1024");
  EXPECT_EQ(why_absent(*prepared.front(), {{{"WARPS", {32, ""}}}}), std::nullopt);
}

TEST(Prepare, RefusesADefaultThatTheDeviceCannotLaunch) {
  try {
    prepare({work_of("64")}, device(), 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(error.message(), "small: the default cannot run here: block of 2048 threads: the device allows 1024");
  }
}

TEST(Prepare, StopsEnumeratingAtItsEndAndHasTheDefaultAllTheSame) {
  const auto prepared = prepare({work_of("32", 12)}, device(), 0, now_s() + 0.2);
  const PreparedProblem& problem = *prepared.front();
  EXPECT_GT(problem.space.not_enumerated(), 0);
  EXPECT_EQ(problem.default_id, problem.space.size() - 1);
  EXPECT_EQ(problem.space.variant(problem.default_id), problem.default_variant);
}

TEST(Prepare, LeavesHalfOfTheBudgetToMeasureWith) {
  EXPECT_EQ(enumeration_end(0.0), 0.0);
  EXPECT_NEAR(enumeration_end(60.0), now_s() + 30.0, 1.0);
}

TEST(Prepare, AProblemOwnsItsSpec) {
  SharedProblem problem;
  {
    const Work work = work_of("8");
    problem = prepare({work}, device(), 0).front();
  }
  EXPECT_EQ(problem->spec->name, "small");
  EXPECT_EQ(problem->full->params.size(), 1U);
}

}  // namespace
}  // namespace ktune::sweep
