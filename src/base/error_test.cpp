#include "base/error.h"

#include <gtest/gtest.h>

namespace ktune {
namespace {

TEST(Error, EachKindHasTheExitCodeTheManualNames) {
  EXPECT_EQ(exit_code(ErrorKind::kNo), 1);
  EXPECT_EQ(exit_code(ErrorKind::kUsage), 2);
  EXPECT_EQ(exit_code(ErrorKind::kEnvironment), 3);
  EXPECT_EQ(exit_code(ErrorKind::kNoData), 4);
  EXPECT_EQ(exit_code(ErrorKind::kInterrupted), 130);
}

TEST(Error, AMessageAloneIsOneLine) {
  EXPECT_EQ(format_error(Error(ErrorKind::kUsage, "unknown op 'rmsnrm'")), "ktune: error: unknown op 'rmsnrm'");
}

TEST(Error, AHintFollowsOnItsOwnLine) {
  EXPECT_EQ(format_error(Error(ErrorKind::kUsage, "unknown op", "see ktune ops")),
            "ktune: error: unknown op\n  hint: see ktune ops");
}

TEST(Error, ACaretStaysUnderItsSourceLine) {
  Error error(ErrorKind::kUsage, "unknown name 'BLOCK'", "did you mean 'BLOCK_SIZE'?",
              "op.toml:12:9\n  expr = \"BLOCK >= 1\"\n          ^\n");
  EXPECT_EQ(format_error(error),
            "ktune: error: unknown name 'BLOCK'\n"
            "  --> op.toml:12:9\n"
            "        expr = \"BLOCK >= 1\"\n"
            "                ^\n"
            "  hint: did you mean 'BLOCK_SIZE'?");
}

TEST(Error, KeepsItsPartsWhenCaughtAsAnException) {
  try {
    throw Error(ErrorKind::kNoData, "no trials", "run ktune sweep first", "a.db");
  } catch (const std::exception& caught) {
    EXPECT_STREQ(caught.what(), "no trials");
    const auto& error = dynamic_cast<const Error&>(caught);
    EXPECT_EQ(error.kind(), ErrorKind::kNoData);
    EXPECT_EQ(error.hint(), "run ktune sweep first");
    EXPECT_EQ(error.where(), "a.db");
  }
}

TEST(ErrorDeathTest, ABrokenInvariantAbortsAndNamesIt) {
  int two = 2;
  EXPECT_DEATH(KTUNE_CHECK(two == 3), "ktune: bug: two == 3 .*error_test\\.cpp:");
}

}  // namespace
}  // namespace ktune
