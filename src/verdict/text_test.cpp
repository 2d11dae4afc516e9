#include <gtest/gtest.h>

#include "base/text.h"
#include "verdict/fixture.h"
#include "verdict/lines.h"
#include "verdict/print.h"

namespace ktune::verdict {
namespace {

TEST(GateTerm, FitsEightyColumnsWorstFirst) {
  EXPECT_EQ(print_term(sample_result(), 80, false),
            R"(mode paired, base main (1f776d0aa000), candidate HEAD (5e3b430bb000),
  device NVIDIA H200, driver 580.159.04, toolkit NVRTC 13.0,
  delta 1 % or 0.15 µs, pairs 8, timer events, cache cold
verdict       op       problem              new µs  shift %        interval
WRONG         rope     M=4096 N=128 bf16         –        –               –
REGRESSED     rmsnorm  M=4096 N=4096 bf16    19.31    +2.14  +1.90 to +2.38
INCONCLUSIVE  softmax  M=128 N=1024 f16      5.520    +2.20  +0.30 to +4.10
NO DATA       geglu    M=1 N=8 f32               –        –               –
IMPROVED      silu     M=4096 N=14336 bf16   118.1    -5.14  -5.24 to -5.04
PASS          copy     N=1048576 f32         4.072    +0.05  -0.35 to +0.45
not shown at this width: base µs, delta %, visible %, variant (--format json has
  every column)
rope M=4096 N=128 bf16: y: 3 of 524288 differ, worst at [7, 12]; num_warps=4 →
  num_warps=8
rmsnorm M=4096 N=4096 bf16: 2.14 % slower (18.91 → 19.31 µs; +1.90 to +2.38 %,
  delta 1 %)
softmax M=128 N=1024 f16: the interval reaches delta
geglu M=1 N=8 f32: base has no such op; num_warps=4 → num_warps=8
silu M=4096 N=14336 bf16: 5.14 % faster (124.5 → 118.1 µs; -5.24 to -5.04 %,
  delta 1 %)
note: clocks were not locked
WRONG: 1 of 6 kernels (1 regressed, 1 no data, 1 inconclusive, 1 improved, 1
  pass), 8 pairs of processes and 8 more for 1 kernel, 41 s
)");
}

TEST(GateTerm, HasEveryFigureWhereThereIsRoom) {
  const std::string text = print_term(sample_result(), 120, false);
  EXPECT_NE(text.find("verdict       op       problem              base µs  new µs  shift %        interval  delta %  "
                      "visible %\n"),
            std::string::npos);
  EXPECT_NE(text.find("INCONCLUSIVE  softmax  M=128 N=1024 f16       5.400   5.520    +2.20  +0.30 to +4.10     2.78  "
                      "      4.5\n"),
            std::string::npos);
  EXPECT_NE(text.find("not shown at this width: variant ("), std::string::npos);
  EXPECT_NE(print_term(sample_result(), 0, false).find("3.69          –  BLOCK_SIZE=4096,num_warps=8\n"),
            std::string::npos);
  for (const int width : {80, 120}) {
    for (const std::string& line : split(print_term(sample_result(), width, false), '\n'))
      EXPECT_LE(display_width(line), width) << line;
  }
}

TEST(GateTerm, NamesTwoVariantsOnceAndOneVariantInTheTableOnly) {
  const std::string wide = print_term(sample_result(), 0, false), narrow = print_term(sample_result(), 80, false);
  EXPECT_NE(wide.find("\ngeglu M=1 N=8 f32: base has no such op\n"), std::string::npos) << wide;
  EXPECT_NE(narrow.find("\ngeglu M=1 N=8 f32: base has no such op; num_warps=4 → num_warps=8\n"), std::string::npos);
  EXPECT_EQ(narrow.find("BLOCK_SIZE"), std::string::npos) << narrow;
}

TEST(GateTerm, HasAColumnOfTimersOnlyWhereTheyDiffer) {
  Result result = sample_result();
  EXPECT_EQ(print_term(result, 0, false).find("events\n"), std::string::npos);
  EXPECT_NE(print_term(result, 0, false).find(", timer events, cache cold\n"), std::string::npos);
  result.rows[1].timer = "cupti";
  const std::string text = print_term(result, 0, false);
  EXPECT_NE(text.find("  timer   variant\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  cupti   BLOCK"), std::string::npos) << text;
  EXPECT_NE(text.find(", pairs 8, cache cold\n"), std::string::npos) << text;
}

TEST(GateTerm, ColoursTheVerdictsOnlyWhereColourIsAllowed) {
  EXPECT_EQ(print_term(sample_result(), 80, false).find('\033'), std::string::npos);
  const std::string text = print_term(sample_result(), 0, true);
  EXPECT_NE(text.find("\033[31mREGRESSED\033[0m     rmsnorm  M=4096"), std::string::npos) << text;
  EXPECT_NE(text.find("\033[32mPASS\033[0m          copy     N=10"), std::string::npos) << text;
  EXPECT_NE(text.find("\n\033[31mWRONG\033[0m: 1 of 6 kernels"), std::string::npos) << text;
}

TEST(GateTerm, AStaticGateHasNoColumnsOfTimes) {
  Result result;
  result.mode = Mode::kStatic;
  result.verdict = Verdict::kRegressed;
  result.rows = {untimed_row("rope", "sm_90", Verdict::kRegressed, "spills 0 → 64 B"),
                 untimed_row("silu", "sm_90", Verdict::kPass, "")};
  EXPECT_EQ(print_term(result, 80, false),
            R"(mode static
verdict    op    problem  variant
REGRESSED  rope  sm_90    num_warps=4 → num_warps=8
PASS       silu  sm_90    num_warps=4 → num_warps=8
rope sm_90: spills 0 → 64 B
REGRESSED: 1 of 2 kernels (1 pass)
)");
}

TEST(GateLines, TheSummaryCountsWhatIsNotItsVerdict) {
  Result result = sample_result();
  result.rows.resize(2);
  result.verdict = Verdict::kRegressed;
  EXPECT_EQ(summary_of(result),
            "REGRESSED: 1 of 2 kernels (1 pass), 8 pairs of processes and 8 more for 1 kernel, 41 s");
  result.rows.resize(1);
  result.rows[0].identical = true;
  result.verdict = Verdict::kPass;
  result.seconds = 612.4;
  EXPECT_EQ(summary_of(result),
            "PASS: 1 of 1 kernel (1 with the same machine code), 8 pairs of processes, 10 min 12 s");
  result.mode = Mode::kStatic;
  result.rows.clear();
  result.verdict = Verdict::kNoData;
  result.seconds = 0.84;
  EXPECT_EQ(summary_of(result), "NO DATA: 0 kernels, 0.8 s");
  result = sample_result();
  result.rows = {result.rows[2]};
  result.verdict = Verdict::kInconclusive;
  result.pass_inconclusive = true;
  EXPECT_EQ(summary_of(result), "INCONCLUSIVE: 1 of 1 kernel, let by, 8 pairs of processes, 41 s");
}

TEST(GateLines, TheSummarySaysWhatRanNotWhatWasAskedFor) {
  Result result = sample_result();
  result.seconds = 0;
  result.rows = {result.rows[4]};
  EXPECT_EQ(summary_of(result), "WRONG: 1 of 1 kernel, not timed");
  result = sample_result();
  result.seconds = 0;
  result.rows.erase(result.rows.begin() + 3, result.rows.end());
  result.verdict = Verdict::kRegressed;
  result.rows[2].pairs = 16;
  EXPECT_EQ(summary_of(result),
            "REGRESSED: 1 of 3 kernels (1 inconclusive, 1 pass), 8 pairs of processes and 8 more for 2 kernels");
  for (Row& row : result.rows) row.pairs = 1;
  EXPECT_EQ(summary_of(result), "REGRESSED: 1 of 3 kernels (1 inconclusive, 1 pass), 1 pair of processes");
}

TEST(GateLines, ATimeIsRoundedBeforeItsDigitsAreChosen) {
  const auto times = [](double base_us, double candidate_us) {
    const std::string text =
        explanation_of(row_of("a", "N=1", Verdict::kPass, base_us, candidate_us, 1, 0, 1), Mode::kPaired);
    return text.substr(text.find('(') + 1, text.find(';') - text.find('(') - 1);
  };
  EXPECT_EQ(times(9.9994, 9.9996), "9.999 → 10.00 µs");
  EXPECT_EQ(times(99.99, 99.996), "99.99 → 100.0 µs");
  EXPECT_EQ(times(999.9, 999.96), "999.9 → 1000 µs");
}

TEST(GateLines, AStoredShiftIsToldFromTheTimesItIsNotOf) {
  Row row = row_of("a", "N=1", Verdict::kInconclusive, 108.4, 106.3, 0.7, 0.2, 1);
  EXPECT_EQ(explanation_of(row, Mode::kStored),
            "0.70 % slower beside its control (by itself 108.4 → 106.3 µs; +0.50 to +0.90 %, delta 1 %)");
}

TEST(GateLines, ACommitIsNamedOnceAndBriefly) {
  Result result = sample_result();
  result.base = result.base_commit;
  result.candidate_commit = "";
  EXPECT_EQ(provenance_of(result)[1].second, "1f776d0aa000");
  EXPECT_EQ(provenance_of(result)[2].second, "HEAD");
}

TEST(GateLines, AmongEqualVerdictsTheLargestShiftComesFirst) {
  Result result;
  for (const double shift : {1.5, 7.0, kNone, 3.0})
    result.rows.push_back(row_of("a", "N=1", Verdict::kRegressed, 1, 1, shift, 0.1, 1));
  std::vector<double> shifts;
  for (const Row* row : worst_first(result)) shifts.push_back(row->shift_pct);
  EXPECT_EQ(shifts[0], 7.0);
  EXPECT_EQ(shifts[1], 3.0);
  EXPECT_EQ(shifts[2], 1.5);
}

TEST(GateMarkdown, HeadsWithTheVerdictAndFoldsWhatPasses) {
  Result result = sample_result();
  result.rows.resize(2);
  result.verdict = Verdict::kRegressed;
  EXPECT_EQ(print_markdown(result, 0, false),
            R"(<!-- ktune gate: paired -->
### ktune gate: REGRESSED

REGRESSED: 1 of 2 kernels (1 pass), 8 pairs of processes and 8 more for 1 kernel, 41 s

| verdict | op | problem | base µs | new µs | shift % | interval | delta % | variant |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |
| REGRESSED | rmsnorm | M=4096 N=4096 bf16 | 18.91 | 19.31 | +2.14 | +1.90 to +2.38 | 1 | BLOCK_SIZE=4096,num_warps=8 |

- **REGRESSED** rmsnorm M=4096 N=4096 bf16: 2.14 % slower (18.91 → 19.31 µs; +1.90 to +2.38 %, delta 1 %)

<details>
<summary>1 kernel passes</summary>

| verdict | op | problem | base µs | new µs | shift % | interval | delta % | variant |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |
| PASS | copy | N=1048576 f32 | 4.070 | 4.072 | +0.05 | -0.35 to +0.45 | 3.69 | BLOCK_SIZE=4096,num_warps=8 |

</details>

- clocks were not locked

<details>
<summary>How it was measured</summary>

| | |
| --- | --- |
| mode | paired |
| base | main (1f776d0aa000) |
| candidate | HEAD (5e3b430bb000) |
| device | NVIDIA H200 |
| driver | 580.159.04 |
| toolkit | NVRTC 13.0 |
| delta | 1 % or 0.15 µs |
| pairs | 8 |
| timer | events |
| cache | cold |
| date | 2026-11-29T14:03:05Z |
| ktune | 0.1.0 (2b0c0dd) |
| command | `ktune gate --base main --new HEAD` |

</details>
)");
}

TEST(GateMarkdown, WordsOfOthersStayWords) {
  Result result = sample_result();
  result.rows = {untimed_row("a|b", "N=1", Verdict::kWrong, "<img src=x> @team *bold*\n`code`")};
  result.command = "ktune gate --new 'a`b|c'";
  const std::string text = print_markdown(result, 0, false);
  EXPECT_NE(text.find("| WRONG | a\\|b | N=1 |"), std::string::npos) << text;
  EXPECT_NE(text.find("a|b N=1: &lt;img src=x&gt; &#64;team \\*bold\\* \\`code\\`\n"), std::string::npos) << text;
  EXPECT_NE(text.find("| command | `` ktune gate --new 'a`b\\|c' `` |\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace ktune::verdict
