// What a launch asks for: expressions without a value, and sizes that do not fit, reject the choice.

#include <gtest/gtest.h>

#include "base/error.h"
#include "space/spaces_for_test.h"

namespace ktune::space {
namespace {

using Rejected = std::map<std::string, std::int64_t>;

/// A = 0, 1, 2, and B = 1, 2, which no launch uses.
model::OpSpec spec_of_one_launch() {
  model::OpSpec spec;
  spec.name = "op";
  spec.params = {axis("A", {0, 1, 2}), axis("B", {1, 2})};
  model::LaunchSpec& launch = spec.launches.emplace_back();
  launch.grid = {ex("1")};
  launch.block = {ex("32")};
  return spec;
}

/// On a device without a limit of shared memory.
Space on_a_device(const model::OpSpec& spec) {
  Enumeration how;
  how.target.emplace();
  how.target->device.kind = "cuda";
  how.target->device.sm = 90;
  return enumerate(spec, {}, how);
}

TEST(Launches, HaveSizesFromOneToThirtyOneBits) {
  model::OpSpec spec = spec_of_one_launch();
  spec.launches[0].grid = {ex("A")};
  EXPECT_EQ(on_a_device(spec).rejected(), (Rejected{{"a grid size below 1 in 'A'", 2}}));
  spec.launches[0].grid = {ex("A * 1500000000 + 1")};
  EXPECT_EQ(on_a_device(spec).rejected(), (Rejected{{"a grid size beyond 2^31 - 1 in 'A * 1500000000 + 1'", 2}}));
}

TEST(Launches, HaveSharedMemoryFromNoneToThirtyOneBits) {
  model::OpSpec spec = spec_of_one_launch();
  spec.launches[0].smem = ex("A - 1");
  EXPECT_EQ(on_a_device(spec).rejected(), (Rejected{{"shared memory below 0 in 'A - 1'", 2}}));
  spec.launches[0].smem = ex("A * 1500000000");
  EXPECT_EQ(on_a_device(spec).rejected(), (Rejected{{"shared memory beyond 2^31 - 1 in 'A * 1500000000'", 2}}));
}

TEST(Launches, AreHeldToTheLimitsOfAClusterToo) {
  model::OpSpec spec = spec_of_one_launch();
  spec.launches[0].grid = {ex("32")};
  spec.launches[0].cluster = {ex("A * 8 + 8")};
  EXPECT_EQ(on_a_device(spec).rejected(), (Rejected{{"more than 16 blocks a cluster", 2}}));
}

TEST(Launches, RejectWhereTheirWhenHasNoValue) {
  model::OpSpec spec = spec_of_one_launch();
  spec.launches[0].when = ex("8 / A > 0");
  spec.launches[0].block = {ex("2048 / (A + 1)")};  // A = 0 would break a limit as well
  EXPECT_EQ(on_a_device(spec).rejected(), (Rejected{{"division by zero in '8 / A > 0'", 2}}));
}

TEST(Launches, RejectEveryChoiceWhoseArgumentHasNoValue) {
  model::OpSpec spec = spec_of_one_launch();
  spec.launches[0].args = {ex("8 / A")};
  const Space space = on_a_device(spec);
  EXPECT_EQ(space.rejected(), (Rejected{{"division by zero in '8 / A'", 2}})) << "B = 1, and B = 2 once more";
  EXPECT_EQ(space.size(), 4);
}

TEST(Launches, OfAnUnknownNameEndTheWalk) {
  model::OpSpec spec = spec_of_one_launch();
  spec.launches[0].grid = {ex("AA")};
  spec.constraints = {{ex("A > 7"), "none"}};  // even where nothing is launched
  try {
    on_a_device(spec);
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(error.message().starts_with("unknown name 'AA'")) << error.message();
  }
}

}  // namespace
}  // namespace ktune::space
