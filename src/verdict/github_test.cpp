#include <gtest/gtest.h>

#include "verdict/fixture.h"
#include "verdict/print.h"

namespace ktune::verdict {
namespace {

TEST(GateAnnotations, StandAtTheKernelWorstFirst) {
  EXPECT_EQ(
      print_annotations(sample_result(), 0, false),
      R"(::error file=kernels/rope.cu,title=ktune gate%3A WRONG::rope M=4096 N=128 bf16: y: 3 of 524288 differ, worst at [7, 12]
::error file=kernels/rmsnorm.cu,title=ktune gate%3A REGRESSED::rmsnorm M=4096 N=4096 bf16 2.14 %25 slower (18.91 → 19.31 µs; +1.90 to +2.38 %25, delta 1 %25)
::error file=kernels/softmax.cu,title=ktune gate%3A INCONCLUSIVE::softmax M=128 N=1024 f16 2.20 %25 slower (5.400 → 5.520 µs; +0.30 to +4.10 %25, delta 2.78 %25): the interval reaches delta
::notice file=kernels/geglu.cu,title=ktune gate%3A NO DATA::geglu M=1 N=8 f32: base has no such op
::notice file=kernels/silu.cu,title=ktune gate%3A IMPROVED::silu M=4096 N=14336 bf16 5.14 %25 faster (124.5 → 118.1 µs; -5.24 to -5.04 %25, delta 1 %25)
WRONG: 1 of 6 kernels (1 regressed, 1 no data, 1 inconclusive, 1 improved, 1 pass), 8 pairs of processes and 8 more for 1 kernel, 41 s
)");
}

TEST(GateAnnotations, StandAtTheLineThatTheCompilerNames) {
  Result result;
  result.verdict = Verdict::kWrong;
  const auto at = [&](const std::string& reason, Verdict verdict = Verdict::kWrong) {
    result.rows = {untimed_row("mul3", "N=1", verdict, reason)};
    const std::string text = print_annotations(result, 0, false);
    return text.substr(0, text.find(",title="));
  };
  EXPECT_EQ(at("CompileFailed: mul3.cu(9): error: identifier \"q\" is undefined"),
            "::error file=kernels/mul3.cu,line=9");
  EXPECT_EQ(at("/tmp/a/kernels/mul3.cu:12:5: error: no"), "::error file=kernels/mul3.cu,line=12");
  EXPECT_EQ(at("in mul3.cu: 4 warnings, mul3.cu(31): error"), "::error file=kernels/mul3.cu,line=31");
  EXPECT_EQ(at("include/mul3.cu(9): error"), "::error file=kernels/mul3.cu");
  EXPECT_EQ(at("mul3.cu"), "::error file=kernels/mul3.cu");
  EXPECT_EQ(at("mul3.cu(9"), "::error file=kernels/mul3.cu");
  EXPECT_EQ(at("base does not compile: mul3.cu(9): error", Verdict::kNoData), "::error file=kernels/mul3.cu");
}

TEST(GateAnnotations, WhatIsLetByIsAWarning) {
  Result result = sample_result();
  result.pass_inconclusive = true;
  EXPECT_NE(print_annotations(result, 0, false).find("::warning file=kernels/softmax.cu,"), std::string::npos);
}

TEST(GateAnnotations, AreOneLineWhateverTheTextHolds) {
  Result result;
  result.rows = {untimed_row("a", "N=1", Verdict::kWrong, "100 %\r\n::error::no: this, one")};
  result.rows[0].source = "dir:1,2/a%.cu";
  result.verdict = Verdict::kWrong;
  EXPECT_EQ(print_annotations(result, 0, false),
            "::error file=dir%3A1%2C2/a%25.cu,title=ktune gate%3A WRONG::a N=1: 100 %25%0D%0A::error::no: this, one\n"
            "WRONG: 1 of 1 kernel\n");
}

TEST(GateAnnotations, AVerdictOfNoRowIsAnErrorToo) {
  EXPECT_EQ(print_annotations(Result{}, 0, false),
            "::error title=ktune gate%3A NO DATA::NO DATA: 0 kernels\nNO DATA: 0 kernels\n");
  Result result;
  result.notes = {"b.json is not comparable"};
  EXPECT_EQ(print_annotations(result, 0, false),
            "::error title=ktune gate%3A NO DATA::b.json is not comparable\nNO DATA: 0 kernels\n");
}

}  // namespace
}  // namespace ktune::verdict
