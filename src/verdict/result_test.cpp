#include "verdict/result.h"

#include <gtest/gtest.h>

namespace ktune::verdict {
namespace {

std::vector<Row> rows_of(std::initializer_list<Verdict> verdicts) {
  std::vector<Row> rows;
  for (Verdict verdict : verdicts) {
    rows.emplace_back();
    rows.back().verdict = verdict;
  }
  return rows;
}

TEST(Verdict, IsSpelledAsReportsPrintIt) {
  EXPECT_EQ(name_of(Verdict::kPass), "PASS");
  EXPECT_EQ(name_of(Verdict::kRegressed), "REGRESSED");
  EXPECT_EQ(name_of(Verdict::kImproved), "IMPROVED");
  EXPECT_EQ(name_of(Verdict::kInconclusive), "INCONCLUSIVE");
  EXPECT_EQ(name_of(Verdict::kWrong), "WRONG");
  EXPECT_EQ(name_of(Verdict::kEnvironment), "ENVIRONMENT");
  EXPECT_EQ(name_of(Verdict::kNoData), "NO DATA");
  EXPECT_EQ(name_of(Mode::kPaired), "paired");
  EXPECT_EQ(name_of(Mode::kStored), "stored");
  EXPECT_EQ(name_of(Mode::kSelf), "aa");
  EXPECT_EQ(name_of(Mode::kStatic), "static");
}

TEST(Overall, TheWorstRowDecidesInThisOrder) {
  const std::vector<Verdict> worst_first = {Verdict::kWrong,  Verdict::kRegressed,    Verdict::kEnvironment,
                                            Verdict::kNoData, Verdict::kInconclusive, Verdict::kImproved,
                                            Verdict::kPass};
  for (std::size_t worst = 0; worst < worst_first.size(); ++worst) {
    for (std::size_t other = worst; other < worst_first.size(); ++other) {
      EXPECT_EQ(overall(rows_of({worst_first[other], worst_first[worst]})), worst_first[worst]) << worst << other;
    }
  }
}

TEST(Overall, NothingToJudgeIsNeverAPass) {
  EXPECT_EQ(overall({}), Verdict::kNoData);
  std::vector<Row> only_new = rows_of({Verdict::kNoData, Verdict::kNoData});
  for (Row& row : only_new) row.blocks = false;
  EXPECT_EQ(overall(only_new), Verdict::kNoData);
}

TEST(Overall, AKernelThatBaseDoesNotHaveStandsInNobodysWay) {
  std::vector<Row> rows = rows_of({Verdict::kPass, Verdict::kNoData});
  EXPECT_EQ(overall(rows), Verdict::kNoData);
  rows[1].blocks = false;
  EXPECT_EQ(overall(rows), Verdict::kPass);
}

TEST(ExitCode, IsOnePerVerdict) {
  EXPECT_EQ(exit_code_of(Verdict::kPass, false), 0);
  EXPECT_EQ(exit_code_of(Verdict::kImproved, false), 0);
  EXPECT_EQ(exit_code_of(Verdict::kRegressed, false), 1);
  EXPECT_EQ(exit_code_of(Verdict::kWrong, false), 1);
  EXPECT_EQ(exit_code_of(Verdict::kInconclusive, false), 1);
  EXPECT_EQ(exit_code_of(Verdict::kEnvironment, false), 3);
  EXPECT_EQ(exit_code_of(Verdict::kNoData, false), 4);
}

TEST(ExitCode, LettingInconclusiveByLetsNothingElseBy) {
  EXPECT_EQ(exit_code_of(Verdict::kInconclusive, true), 0);
  EXPECT_EQ(exit_code_of(Verdict::kRegressed, true), 1);
  EXPECT_EQ(exit_code_of(Verdict::kWrong, true), 1);
  EXPECT_EQ(exit_code_of(Verdict::kEnvironment, true), 3);
  EXPECT_EQ(exit_code_of(Verdict::kNoData, true), 4);
}

}  // namespace
}  // namespace ktune::verdict
