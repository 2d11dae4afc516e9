#include "space/explore.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include "space/bench_space.h"
#include "space/space.h"

namespace ktune::space {
namespace {

model::Expression ex(std::string text) { return {std::move(text), {}}; }

model::Parameter axis(std::string name, std::vector<std::int64_t> numbers) {
  model::Parameter parameter;
  parameter.name = std::move(name);
  for (const std::int64_t number : numbers) parameter.values.push_back({number, ""});
  return parameter;
}

/// LOADER = ldg, bulk, tma (named); STAGES only where it is not ldg, else 1; BLOCK listed out of order.
model::OpSpec small_space() {
  model::OpSpec spec;
  spec.params = {axis("LOADER", {0, 1, 2}), axis("STAGES", {2, 3, 4}), axis("BLOCK", {64, 512, 128, 256})};
  spec.params[0].values = {{0, "ldg"}, {1, "bulk"}, {2, "tma"}};
  spec.params[1].when = ex("LOADER != 0");
  spec.params[1].otherwise = {1, ""};
  spec.constraints = {{ex("BLOCK != 128 || LOADER == 2"), "128 is tma's"}, {ex("LOADER != 2 || STAGES > 2"), "tma"}};
  return spec;
}

std::vector<std::string> beside(const std::string& text, std::string_view parameter) {
  Rules rules(small_space(), {});
  const Space space = enumerate(small_space(), {});
  std::vector<std::string> found;
  for (std::int64_t id = 0; id < space.size(); ++id)
    if (space.variant(id).text() == text)
      for (const model::Variant& neighbour : neighbours(rules, space.variant(id), parameter)) {
        found.push_back(neighbour.text());
        EXPECT_TRUE(space.find(neighbour).has_value()) << neighbour.text();
      }
  return found;
}

using Texts = std::vector<std::string>;

TEST(Neighbours, OfANumberAreTheNearestBelowAndAboveThatFit) {
  EXPECT_EQ(beside("LOADER=tma,STAGES=3,BLOCK=256", "BLOCK"),
            (Texts{"LOADER=tma,STAGES=3,BLOCK=128", "LOADER=tma,STAGES=3,BLOCK=512"}));
  EXPECT_EQ(beside("LOADER=bulk,STAGES=3,BLOCK=256", "BLOCK"),  // 128 is not valid there: 64 is the nearest
            (Texts{"LOADER=bulk,STAGES=3,BLOCK=64", "LOADER=bulk,STAGES=3,BLOCK=512"}));
  EXPECT_EQ(beside("LOADER=bulk,STAGES=3,BLOCK=512", "BLOCK"), Texts{"LOADER=bulk,STAGES=3,BLOCK=256"});
  EXPECT_EQ(beside("LOADER=tma,STAGES=3,BLOCK=64", "STAGES"), Texts{"LOADER=tma,STAGES=4,BLOCK=64"});
}

TEST(Neighbours, OfANameAreAllOthersAndWhatHangsOnItFollows) {
  EXPECT_EQ(beside("LOADER=bulk,STAGES=4,BLOCK=64", "LOADER"),
            (Texts{"LOADER=ldg,STAGES=1,BLOCK=64", "LOADER=tma,STAGES=4,BLOCK=64"}));
  EXPECT_EQ(beside("LOADER=ldg,STAGES=1,BLOCK=64", "LOADER"),  // STAGES gets the first value that fits
            (Texts{"LOADER=bulk,STAGES=2,BLOCK=64", "LOADER=tma,STAGES=3,BLOCK=64"}));
  EXPECT_EQ(beside("LOADER=tma,STAGES=3,BLOCK=128", "LOADER"), Texts{});  // 128 is tma's
}

TEST(Neighbours, AreNoneWhereAParameterDoesNotApplyOrIsUnknown) {
  EXPECT_EQ(beside("LOADER=ldg,STAGES=1,BLOCK=64", "STAGES"), Texts{});
  EXPECT_EQ(beside("LOADER=ldg,STAGES=1,BLOCK=64", "WARPS"), Texts{});
  Rules rules(small_space(), {});
  const model::Variant outside{{{"LOADER", {0, "ldg"}}, {"STAGES", {2, ""}}, {"BLOCK", {64, ""}}}};
  EXPECT_TRUE(neighbours(rules, outside, "BLOCK").empty());
  const model::Variant elsewhere{{{"LOADER", {1, "bulk"}}, {"STAGES", {1, ""}}, {"BLOCK", {64, ""}}}};
  EXPECT_TRUE(neighbours(rules, elsewhere, "BLOCK").empty()) << "1 is a value of STAGES only where it does not apply";
  const model::Variant broken{{{"LOADER", {0, "ldg"}}, {"STAGES", {1, ""}}, {"BLOCK", {128, ""}}}};
  EXPECT_TRUE(neighbours(rules, broken, "BLOCK").empty()) << "128 is tma's";
}

TEST(Neighbours, AreNoneWhereARuleOfTheProblemFails) {
  model::OpSpec spec;
  spec.params = {axis("A", {1, 2, 3})};
  spec.constraints = {{ex("1 > 2"), "never"}};
  Rules rules(spec, {});
  EXPECT_FALSE(rules.valid({1}));
  EXPECT_TRUE(neighbours(rules, {{{"A", {2, ""}}}}, "A").empty());
}

TEST(RandomVariant, ReachesEveryValidVariantAndNoOther) {
  const model::OpSpec spec = small_space();
  const Space space = enumerate(spec, {});
  Rules rules(spec, {});
  std::mt19937_64 random(1);
  std::map<std::int64_t, int> drawn;
  for (int i = 0; i < 4000; ++i) {
    const auto variant = random_variant(rules, random);
    ASSERT_TRUE(variant.has_value());
    const auto id = space.find(*variant);
    ASSERT_TRUE(id.has_value()) << variant->text();
    ++drawn[*id];
  }
  EXPECT_EQ(static_cast<std::int64_t>(drawn.size()), space.size());
  // The bias: a third of all goes to ldg's three variants, though there are twenty.
  EXPECT_EQ(space.size(), 20);
  const int ldg = drawn[0] + drawn[1] + drawn[2];
  EXPECT_NEAR(ldg, 4000 / 3, 150);
}

TEST(RandomVariant, IsTheSameForTheSameSeed) {
  Rules rules(bench_space(), bench_scope());
  std::set<std::string> texts;
  for (const std::uint64_t seed : {7U, 7U, 8U, 9U}) {
    std::mt19937_64 random(seed);
    texts.insert(random_variant(rules, random)->text());
  }
  EXPECT_EQ(texts.size(), 3U);
}

TEST(RandomVariant, NeedsNoEnumeration) {
  model::OpSpec spec;  // 10^30 points
  for (int i = 0; i < 30; ++i) spec.params.push_back(axis("P" + std::to_string(i), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  for (int i = 1; i < 30; ++i)
    spec.constraints.push_back({ex("P" + std::to_string(i) + " >= P" + std::to_string(i - 1)), "ascending"});
  Rules rules(spec, {});
  std::mt19937_64 random(3);
  const auto variant = random_variant(rules, random);
  ASSERT_TRUE(variant.has_value());
  EXPECT_TRUE(rules.valid(*choice_of(rules.axes(), *variant)));
}

TEST(RandomVariant, GoesBackFromADeadEndHoweverDeep) {
  model::OpSpec spec;  // only P0 = 5 leads anywhere, which the last parameter tells
  spec.params.push_back(axis("P0", {0, 1, 2, 3, 4, 5}));
  for (int i = 1; i < 8; ++i) spec.params.push_back(axis("P" + std::to_string(i), {0, 1, 2, 3}));
  spec.constraints = {{ex("P0 == 5 && P7 == 3 || P7 > 3"), "dead"}};
  Rules rules(spec, {});
  std::mt19937_64 random(2);
  const auto variant = random_variant(rules, random);
  ASSERT_TRUE(variant.has_value());
  EXPECT_EQ(variant->values.front().second.number, 5);
}

/// Ends a search that would not end by itself.
struct Patience {
  int asked = 0;
  bool operator()() {
    if (++asked > 1000) throw std::runtime_error("the search goes on");
    return false;
  }
};

TEST(RandomVariant, BeginsAgainWhereTheFirstValueLeadsToNothing) {
  model::OpSpec spec;  // below P0 = 0 lie 10^12 points, and the last parameter rejects each of them
  spec.params.push_back(axis("P0", {0, 1}));
  for (int i = 1; i <= 12; ++i) spec.params.push_back(axis("P" + std::to_string(i), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  spec.constraints = {{ex("P0 == 1 || P12 > 9"), "dead"}};
  Rules rules(spec, {});
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U}) {
    std::mt19937_64 random(seed);
    Patience patience;
    const auto variant = random_variant(rules, random, std::ref(patience));
    ASSERT_TRUE(variant.has_value());
    EXPECT_EQ(variant->values.front().second.number, 1);
  }
}

TEST(RandomVariant, IsNothingOfASpaceThatTakesLongToSearchInVain) {
  model::OpSpec spec;  // 4^7 points, many times the patience of the first try
  for (int i = 0; i < 7; ++i) spec.params.push_back(axis("P" + std::to_string(i), {0, 1, 2, 3}));
  spec.constraints = {{ex("P6 > 3"), "none"}};
  Rules rules(spec, {});
  std::mt19937_64 random(1);
  Patience patience;
  EXPECT_EQ(random_variant(rules, random, std::ref(patience)), std::nullopt);
}

TEST(RandomVariant, StopsInTheMiddleOfASearch) {
  model::OpSpec spec;
  for (int i = 0; i < 12; ++i) spec.params.push_back(axis("P" + std::to_string(i), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  spec.constraints = {{ex("P11 > 9"), "none"}};
  Rules rules(spec, {});
  std::mt19937_64 random(1);
  int asked = 0;
  const auto stop = [&asked] {
    if (++asked > 101) throw std::runtime_error("the search goes on after a stop");
    return asked >= 100;
  };
  EXPECT_EQ(random_variant(rules, random, stop), std::nullopt);
}

TEST(RandomVariant, IsNothingOfAnEmptySpaceOrOnceItIsStopped) {
  model::OpSpec spec;
  spec.params = {axis("A", {1, 2}), axis("B", {1, 2})};
  spec.constraints = {{ex("A > 7"), "none"}};
  Rules rules(spec, {});
  std::mt19937_64 random(1);
  EXPECT_EQ(random_variant(rules, random), std::nullopt);
  Rules full(small_space(), {});
  EXPECT_EQ(random_variant(full, random, [] { return true; }), std::nullopt);
}

}  // namespace
}  // namespace ktune::space
