#include "base/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "base/error.h"

namespace ktune {
namespace {

using Texts = std::vector<std::string>;

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,,b,", ','), (Texts{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), Texts{""});
}

TEST(Text, JoinIsTheInverseOfSplit) {
  EXPECT_EQ(join(split("4096x1024x8", 'x'), "x"), "4096x1024x8");
  EXPECT_EQ(join(Texts{}, ","), "");
}

TEST(Text, TrimTakesWhiteSpaceFromBothEnds) {
  EXPECT_EQ(trim("  a b\t\r\n"), "a b");
  EXPECT_EQ(trim(" \n "), "");
}

TEST(Nearest, FindsATypoInEitherCase) {
  Texts ops{"copy", "read", "rmsnorm", "weighted_sum", "weighted_sum_backward"};
  EXPECT_EQ(nearest("rmsnrom", ops), "rmsnorm");
  EXPECT_EQ(nearest("RMSNorm", ops), "rmsnorm");
  EXPECT_EQ(nearest("weighted_sun", ops), "weighted_sum");
  EXPECT_EQ(nearest("copi", ops), "copy");
}

TEST(Nearest, CompletesAnUnambiguousBeginning) {
  EXPECT_EQ(nearest("rms", Texts{"copy", "rmsnorm"}), "rmsnorm");
  EXPECT_EQ(nearest("BLOCK", Texts{"BLOCK_SIZE_WIDE", "BLOCK_SIZE_TALL"}), "");
}

TEST(Nearest, SaysNothingWhenNothingIsMeant) {
  EXPECT_EQ(nearest("softmax", Texts{"copy", "read", "rmsnorm"}), "");
  EXPECT_EQ(nearest("f32", Texts{"f16"}), "");
  EXPECT_EQ(nearest("K", Texts{"M", "N"}), "");
  EXPECT_EQ(nearest("x", Texts{}), "");
}

TEST(Nearest, ShortNamesMatchOnlyInAnotherCase) { EXPECT_EQ(nearest("n", Texts{"M", "N"}), "N"); }

TEST(Nearest, DidYouMeanIsReadyToAppend) {
  EXPECT_EQ(did_you_mean("bf61", Texts{"f32", "bf16"}), "; did you mean 'bf16'?");
  EXPECT_EQ(did_you_mean("softmax", Texts{"copy"}), "");
}

TEST(ParseInteger, ReadsDigitsAndBinarySuffixes) {
  EXPECT_EQ(parse_integer("4096", "size"), 4096);
  EXPECT_EQ(parse_integer("-7", "size"), -7);
  EXPECT_EQ(parse_integer(" 4k ", "size"), 4096);
  EXPECT_EQ(parse_integer("2M", "size"), 2097152);
  EXPECT_EQ(parse_integer("1G", "size"), 1073741824);
  EXPECT_EQ(parse_integer("9223372036854775807", "size"), INT64_MAX);
}

std::string message_of(std::string_view text) {
  try {
    parse_integer(text, "M");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.message();
  }
  return "accepted";
}

TEST(ParseInteger, RefusesEverythingElseAndNamesWhatItWasFor) {
  for (const char* text : {"", "k", "4.5", "4x", "0x10", "+4", "4 4", "1e3", "four"}) {
    EXPECT_EQ(message_of(text), "M: '" + std::string(text) + "' is not a whole number");
  }
  EXPECT_EQ(message_of("9223372036854775808"), "M: 9223372036854775808 does not fit in 64 bits");
  EXPECT_EQ(message_of("9007199254740992k"), "M: 9007199254740992k does not fit in 64 bits");
}

TEST(FormatTime, HasThreeDigitsAndTheUnitThatFits) {
  EXPECT_EQ(format_time_us(21.34), "21.3 µs");
  EXPECT_EQ(format_time_us(0.613), "0.613 µs");
  EXPECT_EQ(format_time_us(3.0), "3.00 µs");
  EXPECT_EQ(format_time_us(125.4), "125 µs");
  EXPECT_EQ(format_time_us(1350), "1.35 ms");
  EXPECT_EQ(format_time_us(2.1e6), "2.1 s");
  EXPECT_EQ(format_time_us(0), "0 µs");
  EXPECT_EQ(format_time_us(std::nan("")), "–");
}

TEST(FormatTime, RoundingNeverShowsAThousandOfAUnit) {
  EXPECT_EQ(format_time_us(9.996), "10.0 µs");
  EXPECT_EQ(format_time_us(999.4), "999 µs");
  EXPECT_EQ(format_time_us(999.6), "1.00 ms");
  EXPECT_EQ(format_time_us(999.7e3), "1.0 s");
}

TEST(FormatBytes, HasOneDecimalAboveAKibibyte) {
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(16 << 20), "16.0 MiB");
  EXPECT_EQ(format_bytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(format_bytes(-2048), "-2.0 KiB");
  EXPECT_EQ(format_bytes(std::int64_t{141} << 30), "141.0 GiB");
}

TEST(Clock, UtcNowIsADateTimeInIsoForm) {
  std::string now = utc_now();
  EXPECT_TRUE(std::regex_match(now, std::regex(R"(20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\dZ)"))) << now;
}

TEST(Clock, SecondsNeverGoBack) {
  double first = now_s();
  double second = now_s();
  EXPECT_LE(first, second);
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("21.3 µs"), 7);
  EXPECT_EQ(display_width("–"), 1);
  EXPECT_EQ(display_width("核心"), 4);
  EXPECT_EQ(display_width("e\xCC\x81"), 1);  // e with a combining acute
  EXPECT_EQ(display_width("\033[1mbold\033[0m"), 4);
  EXPECT_EQ(display_width("\xFF\xC3"), 2);  // no UTF-8: one column a byte
}

TEST(CutToWidth, EndsInAnEllipsisAndNeverSplitsACharacter) {
  EXPECT_EQ(cut_to_width("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_to_width("abcdef", 4), "abc…");
  EXPECT_EQ(cut_to_width("µµµµ", 3), "µµ…");
  EXPECT_EQ(cut_to_width("核心核心", 4), "核…");
  EXPECT_EQ(cut_to_width("abc", 0), "");
}

TEST(CutToWidth, ACutColourIsReset) { EXPECT_EQ(cut_to_width("\033[31mredder\033[0m", 4), "\033[31mred…\033[0m"); }

TEST(AsciiLower, LeavesWhatIsNoLetterOfAToZ) { EXPECT_EQ(ascii_lower("NO DATA, 3 µS Ä"), "no data, 3 µs Ä"); }

}  // namespace
}  // namespace ktune
