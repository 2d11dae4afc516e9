#include "search/search.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace ktune::search {
namespace {

space::Space space_of(std::size_t n) {
  model::OpSpec spec;
  model::Parameter& parameter = spec.params.emplace_back();
  parameter.name = "A";
  for (std::size_t i = 0; i < n; ++i) parameter.values.push_back({static_cast<std::int64_t>(i), ""});
  return space::enumerate(spec, {});
}

std::vector<VariantId> order(std::string_view name, std::size_t n, VariantId default_id, std::uint64_t seed = 1) {
  const space::Space space = space_of(n);
  const auto strategy = make_strategy(name, space, default_id, seed);
  std::vector<VariantId> ids;
  while (const auto id = strategy->next()) {
    ids.push_back(*id);
    strategy->tell(*id, model::Outcome::kMeasured, 1.0);
  }
  EXPECT_FALSE(strategy->next().has_value());
  return ids;
}

TEST(Exhaustive, StartsWithTheDefaultThenFollowsTheSpace) {
  EXPECT_EQ(order("exhaustive", 5, 2), (std::vector<VariantId>{2, 0, 1, 3, 4}));
  EXPECT_EQ(order("exhaustive", 3, -1), (std::vector<VariantId>{0, 1, 2}));
}

TEST(Reverse, IsTheOppositeOrderWithTheDefaultLast) {
  EXPECT_EQ(order("reverse", 5, 2), (std::vector<VariantId>{4, 3, 1, 0, 2}));
}

TEST(Random, KeepsTheDefaultFirstAndRepeatsForItsSeed) {
  const std::vector<VariantId> first = order("random", 50, 7, 42);
  EXPECT_EQ(first.front(), 7);
  EXPECT_EQ(order("random", 50, 7, 42), first);
  EXPECT_NE(order("random", 50, 7, 43), first);
  // Fixed by the generator's definition: the same everywhere.
  EXPECT_EQ(order("random", 6, 0, 1), (std::vector<VariantId>{0, 2, 5, 1, 3, 4}));
}

TEST(EveryStrategy, GivesEachVariantOnce) {
  for (const StrategyInfo& row : strategies()) {
    for (const VariantId default_id : {VariantId{-1}, VariantId{0}, VariantId{9}, VariantId{19}}) {
      std::vector<VariantId> ids = order(row.name, 20, default_id, 5);
      std::sort(ids.begin(), ids.end());
      ASSERT_EQ(ids.size(), 20U) << row.name;
      for (VariantId id = 0; id < 20; ++id) EXPECT_EQ(ids[static_cast<std::size_t>(id)], id) << row.name;
    }
    EXPECT_TRUE(order(row.name, 0, -1).empty()) << row.name;
    EXPECT_EQ(order(row.name, 1, 0), std::vector<VariantId>{0}) << row.name;
    EXPECT_FALSE(row.summary.empty());
  }
}

TEST(Strategies, AnUnknownNameGetsASuggestion) {
  try {
    make_strategy("exhaustiv", space_of(1), 0, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(error.message(), "unknown strategy 'exhaustiv'; did you mean 'exhaustive'?");
    std::vector<std::string> names;
    for (const StrategyInfo& row : strategies()) names.emplace_back(row.name);
    EXPECT_EQ(error.hint(), "strategies: " + join(names, ", "));
  }
}

}  // namespace
}  // namespace ktune::search
