#include "space/tuples.h"

#include <gtest/gtest.h>

namespace ktune::space {
namespace {

Axis axis_of(std::size_t values) {
  Axis axis;
  axis.values.resize(values);
  axis.count = values;
  return axis;
}

TEST(Tuples, GiveBackWhatWasPushedAndFindIt) {
  Tuples tuples({axis_of(3), axis_of(1), axis_of(5)});
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t c = 0; c < 5; c += 2) tuples.push({a, 0, c});
  ASSERT_EQ(tuples.size(), 9);
  EXPECT_EQ(tuples.at(0), (Choice{0, 0, 0}));
  EXPECT_EQ(tuples.at(5), (Choice{1, 0, 4}));
  EXPECT_EQ(tuples.at(8), (Choice{2, 0, 4}));
  EXPECT_EQ(tuples.find({1, 0, 4}), 5);
  EXPECT_EQ(tuples.find({1, 0, 3}), std::nullopt);
  EXPECT_EQ(tuples.find({2, 0, 4}), 8);
}

TEST(Tuples, HoldAsManyCombinationsAs63BitsCount) {
  Tuples tuples(std::vector<Axis>(63, axis_of(2)));
  const Choice last(63, 1);
  Choice first(63, 0);
  tuples.push(first);
  first[0] = 1;
  tuples.push(first);
  tuples.push(last);
  EXPECT_EQ(tuples.at(1), first);
  EXPECT_EQ(tuples.at(2), last);
  EXPECT_EQ(tuples.find(last), 2);
}

TEST(Tuples, FindNothingWhereThereIsNone) {
  const Tuples none({axis_of(3)});
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.find({1}), std::nullopt);
}

TEST(Tuples, OfNoAxesAreOneEmptyChoice) {
  Tuples tuples{std::vector<Axis>{}};
  tuples.push({});
  EXPECT_EQ(tuples.at(0), Choice{});
  EXPECT_EQ(tuples.find({}), 0);
}

}  // namespace
}  // namespace ktune::space
