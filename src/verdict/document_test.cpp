#include <gtest/gtest.h>

#include "base/text.h"
#include "verdict/fixture.h"
#include "verdict/formats.h"

namespace ktune::verdict {
namespace {

std::string shown(std::string_view format, const Result& result) {
  return find_format(formats(), format).print(result, 0, false);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(GateCsv, HasEveryColumnOfEveryKernelTheWorstFirst) {
  const std::vector<std::string> lines = split(shown("csv", sample_result()), '\n');
  ASSERT_EQ(lines.size(), 8U);
  EXPECT_EQ(lines[0],
            "verdict,op,problem,for,base µs,new µs,shift %,low %,high %,delta %,visible %,timer,variant,reason");
  EXPECT_EQ(lines[1],
            "WRONG,rope,M=4096 N=128 bf16,,,,,,,,,,num_warps=4 → num_warps=8,"
            "\"y: 3 of 524288 differ, worst at [7, 12]\"");
  EXPECT_EQ(lines[6].substr(0, 42), "PASS,copy,N=1048576 f32,,4.07,4.072,0.05,-");
}

TEST(GateCsv, HoldsNoDetails) {
  Result result = sample_result();
  result.detail_columns = {"op", "problem", "sd %"};
  result.details = {{"copy", "N=1", "0.25"}};
  EXPECT_EQ(shown("csv", result), shown("csv", sample_result()));
  EXPECT_TRUE(holds(shown("html", result), "<td class=\"r\">0.25</td>"));
}

TEST(GateHtml, IsAPageWithVerdictsReasonsAndHowItWasMeasured) {
  const std::string text = shown("html", sample_result());
  EXPECT_TRUE(holds(text, "<h1>ktune gate: WRONG</h1>")) << text;
  EXPECT_TRUE(holds(text, "<p class=\"summary bad\">WRONG: 1 of 6 kernels (")) << text;
  EXPECT_TRUE(holds(text, "<td class=\"bad\">REGRESSED</td><td>rmsnorm</td>")) << text;
  EXPECT_TRUE(holds(text, "<td class=\"good\">PASS</td><td>copy</td>")) << text;
  EXPECT_TRUE(holds(text, "<li>WRONG rope M=4096 N=128 bf16: y: 3 of 524288 differ")) << text;
  EXPECT_TRUE(holds(text, "<td>driver</td><td>580.159.04</td>")) << text;
  EXPECT_TRUE(holds(text, "<li>clocks were not locked</li>")) << text;
}

TEST(GateHtml, EscapesWordsOfOthers) {
  Result result = sample_result();
  result.rows[4].reason = "<script>alert(\"x\") & more</script>\033[2J";
  const std::string text = shown("html", result);
  EXPECT_FALSE(holds(text, "<script>")) << text;
  EXPECT_TRUE(holds(text, "&lt;script&gt;alert(\"x\") &amp; more&lt;/script&gt;[2J")) << text;
}

}  // namespace
}  // namespace ktune::verdict
