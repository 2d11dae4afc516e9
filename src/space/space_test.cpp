#include "space/space.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <numeric>
#include <set>

#include "base/error.h"
#include "expr/resolve.h"
#include "space/bench_space.h"
#include "space/spaces_for_test.h"

namespace ktune::space {
namespace {

TEST(Enumerate, ListsTheProductInOrderLastAxisFastest) {
  model::OpSpec spec;
  spec.params = {axis("A", {1, 2}), axis("B", {10, 20, 30})};
  const Space space = enumerate(spec, {});
  EXPECT_EQ(texts(space),
            (std::vector<std::string>{"A=1,B=10", "A=1,B=20", "A=1,B=30", "A=2,B=10", "A=2,B=20", "A=2,B=30"}));
  EXPECT_EQ(space.enumerated(), 6);
  EXPECT_TRUE(space.rejected().empty());
}

TEST(Enumerate, CountsWholeSubtreesByTheConstraintThatPrunesThem) {
  model::OpSpec spec;
  spec.params = {axis("A", {1, 2, 3}), axis("B", {1, 2}), axis("C", {1, 2, 3, 4, 5})};
  spec.constraints = {{ex("A < LIMIT"), "A is too large"}, {ex("A + C != 4"), "A and C clash"}};
  const Space space = enumerate(spec, scope_of({{"LIMIT", 3}}));
  EXPECT_EQ(space.enumerated(), 30);
  EXPECT_EQ(space.rejected().at("A is too large"), 10);
  EXPECT_EQ(space.rejected().at("A and C clash"), 4);
  EXPECT_EQ(space.size(), 16);
  EXPECT_EQ(accounted(space), space.enumerated());
}

TEST(Enumerate, AConstraintWithoutParametersRejectsEverythingAtOnce) {
  model::OpSpec spec;
  spec.params = {axis("A", {1, 2, 3}), axis("B", {1, 2})};
  spec.constraints = {{ex("sm >= 100"), "needs a newer device"}};
  const Space space = enumerate(spec, scope_of({{"sm", 90}}));
  EXPECT_TRUE(space.empty());
  EXPECT_EQ(space.rejected(), (std::map<std::string, std::int64_t>{{"needs a newer device", 6}}));
}

TEST(Enumerate, WhenCollapsesAnAxisToItsOneValueAndCountsTheRest) {
  model::OpSpec spec;
  spec.params = {axis("LOADER", {1, 2}), axis("STAGES", {2, 3, 4}), axis("B", {1, 2})};
  spec.params[0].values = {{1, "ldg"}, {2, "bulk"}};
  spec.params[1].when = ex("LOADER != ldg");
  spec.params[1].otherwise = {1, ""};
  const Space space = enumerate(spec, scope_of({{"ldg", 1}, {"bulk", 2}}));
  EXPECT_EQ(texts(space), (std::vector<std::string>{"LOADER=ldg,STAGES=1,B=1", "LOADER=ldg,STAGES=1,B=2",
                                                    "LOADER=bulk,STAGES=2,B=1", "LOADER=bulk,STAGES=2,B=2",
                                                    "LOADER=bulk,STAGES=3,B=1", "LOADER=bulk,STAGES=3,B=2",
                                                    "LOADER=bulk,STAGES=4,B=1", "LOADER=bulk,STAGES=4,B=2"}));
  EXPECT_EQ(space.enumerated(), 12);
  EXPECT_EQ(space.rejected(), (std::map<std::string, std::int64_t>{{kDuplicate, 4}}));
}

TEST(Enumerate, ACollapsedValueIsStillTestedAgainstConstraints) {
  model::OpSpec spec;
  spec.params = {axis("A", {1, 2}), axis("S", {1, 2, 3})};
  spec.params[1].when = ex("A == 2");
  spec.params[1].otherwise = {1, ""};
  spec.constraints = {{ex("S != 1"), "no S = 1"}};
  const Space space = enumerate(spec, {});
  EXPECT_EQ(texts(space), (std::vector<std::string>{"A=2,S=2", "A=2,S=3"}));
  EXPECT_EQ(space.rejected(), (std::map<std::string, std::int64_t>{{kDuplicate, 2}, {"no S = 1", 2}}));
  EXPECT_EQ(accounted(space), 6);
}

TEST(Enumerate, NoVariantIsListedTwice) {
  model::OpSpec spec;
  spec.params = {axis("A", {0, 1}), axis("B", {0, 1, 2}), axis("C", {0, 1, 2, 3})};
  spec.params[1].when = ex("A");
  spec.params[1].otherwise = {0, ""};
  spec.params[2].when = ex("B > 0");
  spec.params[2].otherwise = {9, ""};
  const Space space = enumerate(spec, {});
  const std::vector<std::string> all = texts(space);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_EQ(all.size(), 1U + 1U + 2U * 4U);
  EXPECT_EQ(accounted(space), 24);
}

TEST(Enumerate, ANarrowedAxisKeepsOnlyItsValues) {
  model::OpSpec spec;
  spec.params = {axis("A", {2}), axis("B", {1, 2})};
  spec.params[0].listed = {{1, ""}, {2, ""}};
  EXPECT_EQ(texts(enumerate(spec, {})), (std::vector<std::string>{"A=2,B=1", "A=2,B=2"}));
}

TEST(Enumerate, WhatAnotherConstraintPrunesIsNotEvaluated) {
  model::OpSpec spec;
  spec.params = {axis("CLUSTER", {0, 1, 2}), axis("B", {1, 2})};
  spec.constraints = {{ex("8 / CLUSTER > B"), "too small"}, {ex("CLUSTER > 0"), "no cluster"}};
  const Space space = enumerate(spec, {});
  EXPECT_EQ(space.rejected(), (std::map<std::string, std::int64_t>{{"no cluster", 2}}));
  EXPECT_EQ(space.size(), 4);
}

TEST(Enumerate, AnUnknownNameEndsIt) {
  model::OpSpec spec;
  spec.params = {axis("A", {0, 1})};
  spec.constraints = {{ex("BB > 1"), "unknown"}};
  try {
    enumerate(spec, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "unknown name 'BB'");
  }
}

TEST(Enumerate, ASpaceBeyondCountingIsRefused) {
  model::OpSpec spec;
  spec.name = "huge";
  std::vector<std::int64_t> values(1024);
  std::iota(values.begin(), values.end(), 0);
  for (const char* name : {"A", "B", "C", "D", "E", "F", "G"}) spec.params.push_back(axis(name, values));
  try {
    enumerate(spec, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "the space of huge has more than 2^63 points");
  }
}

TEST(Enumerate, TheValuesOfAWhenCountWhereItsElsewhereIsANewOne) {
  model::OpSpec spec;
  spec.name = "huge";
  for (int i = 0; i < 41; ++i) {  // 2^41 points, 3^41 > 2^63 combinations
    spec.params.push_back(axis("A" + std::to_string(i), {1, 2}));
    spec.params.back().when = ex("0");
    spec.params.back().otherwise = {7, ""};
  }
  try {
    enumerate(spec, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "the space of huge has more than 2^63 points");
  }
}

TEST(Enumerate, AValueElsewhereThatIsOneOfTheValuesAddsNoCombination) {
  model::OpSpec spec;
  for (int i = 0; i < 41; ++i) {
    spec.params.push_back(axis("A" + std::to_string(i), {1, 2}));
    spec.params.back().when = ex("0");
    spec.params.back().otherwise = {2, ""};
  }
  EXPECT_EQ(enumerate(spec, {}).size(), 1);
}

TEST(Enumerate, TheBenchmarkSpaceHasTheSizeItIsNamedFor) {
  const model::OpSpec spec = bench_space();
  const Space space = enumerate(spec, bench_scope());
  EXPECT_EQ(spec.constraints.size(), 10U);
  EXPECT_GE(space.enumerated(), 100'000'000);
  EXPECT_GE(space.size(), 20'000);
  EXPECT_LE(space.size(), 30'000);
  EXPECT_EQ(accounted(space), space.enumerated());
}

// The same account, point by point: the walk's memoised and pruned tests against explain(), which does neither.
TEST(Enumerate, AgreesWithTestingEveryPointByItself) {
  model::OpSpec spec;
  spec.params = {axis("A", {1, 2, 3, 4}), axis("B", {1, 2, 4}), axis("C", {0, 1, 2}), axis("D", {5, 6})};
  spec.params[2].when = ex("A > 1 && B < 4");
  spec.params[2].otherwise = {7, ""};
  spec.constraints = {
      {ex("A * B <= K"), "first"}, {ex("C != 1 || D == 5"), "second"}, {ex("(A + B + C + D) % 3"), "third"}};
  const expr::Scope scope = scope_of({{"K", 9}});
  const Space space = enumerate(spec, scope);
  std::set<std::string> listed;
  for (const std::string& text : texts(space)) listed.insert(text);
  std::set<std::string> valid;
  for (const std::int64_t a : {1, 2, 3, 4}) {
    for (const std::int64_t b : {1, 2, 4}) {
      for (const std::int64_t c : {0, 1, 2, 7}) {
        for (const std::int64_t d : {5, 6}) {
          const model::Variant variant{{{"A", {a, ""}}, {"B", {b, ""}}, {"C", {c, ""}}, {"D", {d, ""}}}};
          if (!explain(spec, scope, variant)) valid.insert(variant.text());
        }
      }
    }
  }
  EXPECT_EQ(listed, valid);
  EXPECT_GT(valid.size(), 10U);
  EXPECT_EQ(accounted(space), 72);
}

/// 10^12 points, no rules: hours.
model::OpSpec endless_space() {
  model::OpSpec spec;
  spec.name = "endless";
  for (int i = 0; i < 12; ++i) spec.params.push_back(axis("P" + std::to_string(i), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  return spec;
}

TEST(Enumerate, EndsWhenItIsStoppedAndCountsWhatIsLeft) {
  int asked = 0;
  Enumeration how;
  how.stop = [&asked] { return ++asked == 3; };
  const Space space = enumerate(endless_space(), {}, how);
  EXPECT_EQ(asked, 3);
  EXPECT_GT(space.size(), 500);
  EXPECT_LT(space.size(), 3 * 256);
  EXPECT_EQ(space.enumerated(), 1'000'000'000'000);
  EXPECT_EQ(space.not_enumerated(), 1'000'000'000'000 - space.size());
}

TEST(Enumerate, AsksWhetherToStopWhileItRejectsValuesToo) {
  int asked = 0;
  Enumeration how;
  how.stop = [&asked] { return ++asked == 0; };
  model::OpSpec spec;
  spec.name = "none";
  std::vector<std::int64_t> values(100);
  std::iota(values.begin(), values.end(), 0);
  spec.params = {axis("A", values), axis("B", values)};
  spec.constraints = {{ex("A + B < 0"), "none"}};
  EXPECT_TRUE(enumerate(spec, {}, how).empty());
  EXPECT_EQ(asked, (1 + 100 + 100 * 100) / 256);
}

TEST(Enumerate, EndsWithin200MillisecondsOfAStop) {
  const auto start = std::chrono::steady_clock::now();
  Enumeration how;
  how.stop = [&start] { return std::chrono::steady_clock::now() - start > std::chrono::milliseconds(300); };
  model::OpSpec spec = endless_space();  // what costs most: nothing passes, and no rule prunes
  spec.constraints = {{ex("P0 + P1 + P2 + P3 + P4 + P5 + P6 + P7 + P8 + P9 + P10 + P11 < 0"), "none"}};
  const Space space = enumerate(spec, {}, how);
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took, std::chrono::milliseconds(500));
  EXPECT_TRUE(space.empty());
  EXPECT_GT(space.rejected().at("none"), 1000);
  EXPECT_EQ(accounted(space) + space.not_enumerated(), space.enumerated());
}

TEST(Enumerate, RefusesMoreThanTwentyMillionVariantsWhichTakeLessThanAGigabyte) {
  try {
    enumerate(endless_space(), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "more than 20000000 variants in the space of endless");
    EXPECT_EQ(error.hint(), "add constraints, or narrow a parameter with --param NAME=VALUES");
  }
  rusage usage{};
  ASSERT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  EXPECT_LT(usage.ru_maxrss, 1'000'000);  // KiB
}

model::OpSpec launching_space() {
  model::OpSpec spec;
  spec.params = {axis("WARPS", {8, 32, 64}), axis("STAGES", {1, 2, 3}), axis("HINT", {0, 1})};
  spec.constraints = {{ex("STAGES < 3 || WARPS < 64"), "no"}};
  model::LaunchSpec& launch = spec.launches.emplace_back();
  launch.block = {ex("32 * WARPS")};
  launch.grid = {ex("N")};
  launch.smem = ex("STAGES * 100000");
  return spec;
}

TEST(Enumerate, HoldsLaunchesToTheDevicesLimits) {
  Enumeration how;
  how.target.emplace();
  how.target->device.smem_optin = 232448;
  const model::OpSpec spec = launching_space();
  const Space space = enumerate(spec, scope_of({{"N", 1}}), how);
  EXPECT_EQ(space.size(), 8);
  EXPECT_EQ(
      space.rejected(),
      (std::map<std::string, std::int64_t>{
          {"no", 2}, {"more than 1024 threads a block", 4}, {"more than 227.0 KiB of shared memory a block", 4}}));
  EXPECT_EQ(accounted(space), space.enumerated());
  EXPECT_EQ(space.fewest_launches(), 1);
  EXPECT_EQ(enumerate(spec, scope_of({{"N", 1}})).size(), 16);  // no device, no limits
}

TEST(Enumerate, HoldsScratchToTheDevicesMemory) {
  Enumeration how;
  how.target.emplace();
  how.target->device.memory_bytes = 8000;
  model::OpSpec spec = launching_space();
  spec.constraints.clear();
  model::TensorSpec& scratch = spec.tensors.emplace_back();
  scratch.name = "partial";
  scratch.role = model::Role::kScratch;
  scratch.type = "f32";
  scratch.shape = {ex("1000 * STAGES - 1000")};
  scratch.strides = {ex("1")};
  spec.launches[0].block = {ex("32")};
  spec.launches[0].args = {ex("partial")};
  spec.launches[0].smem = {};
  spec.params[1] = axis("STAGES", {1, 2, 3, 4});
  const Space space = enumerate(spec, scope_of({{"N", 1}}), how);
  EXPECT_EQ(space.size(), 12) << "4000 and 8000 bytes fit";
  EXPECT_EQ(space.rejected(),
            (std::map<std::string, std::int64_t>{{"more than 7.8 KiB of scratch memory", 6},
                                                 {"tensor 'partial': a size below 1 in '1000 * STAGES - 1000'", 6}}));
}

TEST(Enumerate, ALaunchThatDoesNotApplyBreaksNoLimit) {
  Enumeration how;
  how.target.emplace();
  model::OpSpec spec = launching_space();
  spec.launches[0].when = ex("WARPS < 64");
  spec.launches[0].smem = {};
  spec.launches.emplace_back().block = {ex("128")};
  const Space space = enumerate(spec, scope_of({{"N", 1}}), how);
  EXPECT_EQ(space.rejected(), (std::map<std::string, std::int64_t>{{"no", 2}}));
  EXPECT_EQ(space.fewest_launches(), 1);
}

TEST(Space, FindsTheNumberOfEachOfItsVariants) {
  model::OpSpec spec;
  spec.params = {axis("A", {1, 2, 3}), axis("B", {4, 2}), axis("C", {1, 2})};
  spec.params[2].when = ex("B > A");
  spec.params[2].otherwise = {9, ""};
  spec.constraints = {{ex("A != 2 || B == 2"), "no"}};
  const Space space = enumerate(spec, {});
  ASSERT_EQ(space.size(), 8);
  for (std::int64_t id = 0; id < space.size(); ++id) EXPECT_EQ(space.find(space.variant(id)), id);
  const auto variant = [](std::int64_t a, std::int64_t b, std::int64_t c) {
    return model::Variant{{{"A", {a, ""}}, {"B", {b, ""}}, {"C", {c, ""}}}};
  };
  EXPECT_EQ(space.find(variant(1, 4, 1)), 0);
  EXPECT_EQ(space.find(variant(2, 2, 9)), 4);
  EXPECT_EQ(space.find(variant(2, 4, 1)), std::nullopt);  // breaks the constraint
  EXPECT_EQ(space.find(variant(3, 2, 1)), std::nullopt);  // C does not apply there
  EXPECT_EQ(space.find(variant(1, 8, 1)), std::nullopt);  // no value of B
  EXPECT_EQ(space.find(variant(2, 8, 1)),
            std::nullopt);  // no value of B, though A = 3, B = 4 comes behind A = 2, B = 2
  EXPECT_EQ(space.find({{{"A", {1, ""}}}}), std::nullopt);
  EXPECT_EQ(space.find({{{"A", {1, ""}}, {"B", {4, ""}}, {"C", {1, ""}}, {"D", {1, ""}}}}), std::nullopt);
  EXPECT_EQ(space.find({{{"A", {1, ""}}, {"X", {4, ""}}, {"C", {1, ""}}}}), std::nullopt);
}

TEST(Space, AVariantThatItLacksBecomesTheLastOne) {
  model::OpSpec spec;
  spec.params = {axis("A", {1, 2}), axis("B", {1, 2})};
  Space space = enumerate(spec, {});
  const model::Variant outside{{{"A", {7, ""}}, {"B", {1, ""}}}};
  EXPECT_EQ(space.find_or_add(space.variant(2)), 2);
  EXPECT_EQ(space.size(), 4);
  EXPECT_EQ(space.find_or_add(outside), 4);
  EXPECT_EQ(space.find_or_add(outside), 4);
  EXPECT_EQ(space.find(outside), 4);
  EXPECT_EQ(space.variant(4), outside);
  EXPECT_EQ(space.size(), 5);
  EXPECT_EQ(space.enumerated(), 5);
}

TEST(Explain, NamesTheConstraintWithTheValuesPutIn) {
  model::OpSpec spec;
  spec.params = {axis("BLOCK_SIZE", {256, 512}), axis("num_warps", {4, 16}), axis("STAGES", {2, 3})};
  spec.params[2].when = ex("num_warps > 4");
  spec.params[2].otherwise = {1, ""};
  spec.constraints = {{ex("BLOCK_SIZE >= 32 * num_warps"), "each thread needs at least one element"}};
  const auto why = [&](std::int64_t block, std::int64_t warps, std::int64_t stages) {
    return explain(spec, {}, {{{"BLOCK_SIZE", {block, ""}}, {"num_warps", {warps, ""}}, {"STAGES", {stages, ""}}}})
        .value_or("valid");
  };
  EXPECT_EQ(why(512, 16, 2), "valid");
  EXPECT_EQ(why(256, 4, 1), "valid");
  EXPECT_EQ(why(256, 16, 2),
            "each thread needs at least one element: 'BLOCK_SIZE >= 32 * num_warps' does not hold (BLOCK_SIZE = 256, "
            "num_warps = 16)");
  EXPECT_EQ(why(256, 4, 2),
            "STAGES = 2, but it is 1 where 'num_warps > 4' does not hold (num_warps = 4): same variant as another (a "
            "parameter that does not apply there)");
  EXPECT_EQ(why(100, 4, 1), "BLOCK_SIZE = 100 is not one of its values");
  spec.params[0].listed = spec.params[0].values;
  spec.params[0].values = {{512, ""}};
  EXPECT_EQ(why(256, 4, 1), "BLOCK_SIZE = 256 is left out by the narrowed values");
  EXPECT_EQ(explain(spec, {}, {{{"BLOCK_SIZE", {512, ""}}}}), "it gives num_warps no value");
}

}  // namespace
}  // namespace ktune::space
