#include "probe/recorded_code.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace ktune::probe {
namespace {

using Kind = sweep::VariantChoice::Kind;

model::Variant variant_of(std::int64_t warps, std::int64_t rows) {
  return {{{"num_warps", {warps, ""}}, {"ROWS", {rows, ""}}}};
}

/// Two sessions of scale N=1000: the first measured three variants, the second two and timed one as a finalist.
model::Dataset dataset() {
  model::Dataset dataset;
  for (const std::int64_t session : {1, 2}) {
    model::ProblemRecord record;
    record.id = 10 * session;
    record.session = session;
    record.op = record.problem.op = "scale";
    record.problem.dims = {{"N", 1000}};
    record.default_variant = variant_of(4, 1);
    record.winner = variant_of(session == 1 ? 8 : 2, 1);
    dataset.problems.push_back(record);
  }
  const auto add = [&](std::int64_t id, std::int64_t session, const model::Variant& variant, bool is_final) {
    model::TrialRecord trial;
    trial.id = id;
    trial.session = session;
    trial.problem = 10 * session;
    trial.variant = variant;
    trial.is_final = is_final;
    dataset.trials.push_back(trial);
  };
  add(1, 1, variant_of(4, 1), false);
  add(2, 1, variant_of(8, 1), false);
  add(3, 1, variant_of(4, 2), false);
  add(4, 2, variant_of(2, 1), true);
  add(5, 2, variant_of(2, 1), false);
  add(6, 2, variant_of(4, 1), false);
  return dataset;
}

std::int64_t found(const sweep::VariantChoice& choice, const std::string& problem = "N=1000") {
  return find_trial(dataset(), "scale", problem, choice);
}

TEST(FindTrial, TakesTheNewestSessionAndTheFinalistsTiming) {
  EXPECT_EQ(found({}), 6);
  EXPECT_EQ(found({Kind::kWinner}), 4);
  EXPECT_EQ(found({Kind::kWinner, 1}), 2);
}

TEST(FindTrial, OfAVariantByNameTakesTheRestFromTheDefault) {
  EXPECT_EQ(found({Kind::kNamed, 0, "ROWS=2"}), 3);
  EXPECT_EQ(found({Kind::kNamed, 0, "num_warps=8"}), 2);
}

TEST(FindTrial, TakesWordsThatNoOtherProblemHas) {
  EXPECT_EQ(found({}, "1000"), 6);
  model::Dataset two = dataset();
  two.problems.push_back(two.problems.back());
  two.problems.back().id = 9;
  two.problems.back().problem.dims = {{"N", 64}};
  EXPECT_EQ(find_trial(two, "scale", "N=1000", {}), 6);
  try {
    find_trial(two, "scale", "", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(error.message(), "'' names 2 problems of scale");
    EXPECT_EQ(error.hint(), "give more of one: N=1000; N=64");
  }
}

TEST(FindTrial, SaysWhatThereIsNot) {
  EXPECT_THROW(found({}, "N=2000"), Error);
  EXPECT_THROW(found({Kind::kWinner, 3}), Error);
  EXPECT_THROW(found({Kind::kNamed, 0, "num_warps=8,ROWS=2"}), Error);
  try {
    found({Kind::kNamed, 0, "ROWS=2,ROWS=2"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "variant 'ROWS=2,ROWS=2' gives ROWS twice");
  }
  try {
    found({Kind::kNamed, 0, "ROWZ=2"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(error.message(), "it has no parameter 'ROWZ'; did you mean 'ROWS'?");
  }
}

}  // namespace
}  // namespace ktune::probe
