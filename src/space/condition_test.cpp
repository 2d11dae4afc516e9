#include "space/condition.h"

#include <gtest/gtest.h>

#include "space/axis.h"
#include "space/spaces_for_test.h"

namespace ktune::space {
namespace {

TEST(Condition, HoldsWhereTheCombinationsAreMoreThan64BitsCount) {
  // 2^22 · (2^42 + 1) combinations: counted in 64 bits they would seem to be 2^22, few enough to remember.
  model::OpSpec spec;
  std::string sum = "0";
  Choice last;
  for (const std::size_t count : {64U, 64U, 1024U, 5U, 13U, 29U, 113U, 1429U, 14449U}) {
    std::vector<std::int64_t> values(count);
    std::iota(values.begin(), values.end(), 0);
    const std::string name = "P" + std::to_string(last.size());
    spec.params.push_back(axis(name, values));
    sum += " + " + name;
    last.push_back(count - 1);
  }
  Condition condition(ex(sum + " == 17181"), axes_of(spec), {});
  EXPECT_EQ(condition.depth(), last.size());
  EXPECT_EQ(condition.holds(last), Truth::kTrue);
  for (std::size_t i = 0; i < last.size(); ++i) {
    Choice choice(last.size(), 0);
    choice[i] = 1;
    EXPECT_EQ(condition.holds(choice), Truth::kFalse) << i;
  }
}

}  // namespace
}  // namespace ktune::space
