#include "report/tables.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"
#include "report/fixture.h"
#include "report/metric.h"

namespace ktune::report {
namespace {

/// Two rmsnorm problems with different winners, copies for a ceiling, one failure.
Report sample_report() {
  DatasetBuilder builder;
  builder.session("2026-11-28T10:00:00Z");
  for (const std::int64_t mb : {40, 400, 4000}) {
    const std::int64_t bytes = mb * 1000000;
    builder.measured("copy", mb, bytes / 2, bytes / 2, 5.0 + static_cast<double>(bytes) / 4e6);
  }
  const model::Dataset ceilings = builder.dataset;
  DatasetBuilder own;
  own.session("2026-11-29T10:00:00Z").id = 7;
  for (const std::int64_t rows : {4096, 16384}) {
    own.problem("rmsnorm", rows, rows * 8192, rows * 8192).rejected = {{"too small", 1200}};
    own.trial(variant_of(1024, 4), 21.5 * static_cast<double>(rows) / 4096);
    own.trial(variant_of(4096, rows == 4096 ? 8 : 16), 18.9 * static_cast<double>(rows) / 4096, true);
    own.trial(variant_of(4096, rows == 4096 ? 8 : 16), 18.0 * static_cast<double>(rows) / 4096);
    own.trial(variant_of(1024, 4), 21.6 * static_cast<double>(rows) / 4096, true);
    if (rows == 4096) own.failure(variant_of(256), model::Outcome::kWrongResult, "y: 1 of 2 differ");
    own.account();
    own.dataset.problems.back().tie_set = {variant_of(4096, 8)};
  }
  own.dataset.trials[1].traffic = {33000000, 34000000, ""};
  return make_report(own.dataset, false, ceilings);
}

std::string shown(std::string_view format, const Report& report, int width, bool colour) {
  return find_format(formats(), format).print(report, width, colour);
}

TEST(Term, FitsEightyColumnsWithTheFiguresThatMatter) {
  std::string text = shown("term", sample_report(), 80, false);
  text.erase(text.find("not shown at this width: "));  // the table's own last line
  EXPECT_EQ(text, R"(rmsnorm on NVIDIA H200, timer events, cold L2
  session 7 of 2026-11-29
  variant: num_warps
  every variant: BLOCK_SIZE=4096, LOADER=ldg
problem              variant     time  ± %  GB/s  % ceil  speed-up  failed
M=4096 N=4096 bf16   8        18.9 µs  1.0  3551    89.2     1.14×       1
M=16384 N=4096 bf16  16       75.6 µs  1.0  3551    89.2     1.14×       0
)");
}

TEST(Term, ShowsTheAccountOfTheSpaceWhereThereIsRoom) {
  const std::string text = shown("term", sample_report(), 120, false);
  for (const std::string& line : split(text, '\n')) EXPECT_LE(display_width(line), 120) << line;
  for (const char* title : {"measured", "failed", "rejected", "floor"}) EXPECT_NE(text.find(title), std::string::npos);
}

TEST(Term, BreaksLongLinesBetweenWords) {
  Report report = sample_report();
  report.notes = {"one two three four five six seven eight nine ten eleven twelve"};
  const std::string text = shown("term", report, 40, false);
  EXPECT_TRUE(text.ends_with("\nnote: one two three four five six seven\n  eight nine ten eleven twelve\n")) << text;
}

TEST(Term, NoLineIsWiderThanTheTerminal) {
  for (const int width : {60, 80, 120})
    for (const std::string& line : split(shown("term", sample_report(), width, false), '\n'))
      EXPECT_LE(display_width(line), width) << line;
}

TEST(Term, SmallRatesKeepThreeDigits) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  for (const std::int64_t bytes : {50000, 5000000, 50000000, 500000000})
    builder.measured("rmsnorm", bytes, bytes / 2, bytes / 2, 1000.0);
  const std::string text = shown("term", make_report(builder.dataset, false), 0, false);
  for (const char* rate : {" 0.05 ", " 5.00 ", " 50.0 ", " 500 "})
    EXPECT_NE(text.find(rate), std::string::npos) << text;
}

TEST(Term, NoLimitShowsEveryColumn) {
  const std::string text = shown("term", sample_report(), 0, false);
  EXPECT_EQ(text.find("not shown"), std::string::npos);
  for (const Metric& metric : metrics()) {
    if (metric.shown != Shown::kWinners && metric.shown != Shown::kBoth) continue;
    EXPECT_NE(text.find(metric.title), std::string::npos) << metric.title;
  }
}

TEST(Term, KeepsDevicesInTablesOfTheirOwnAndSaysWhatACpusTimesAre) {
  DatasetBuilder builder;
  builder.session("2026-11-28T10:00:00Z", "cpu", "AMD EPYC");
  builder.measured("rmsnorm", 64, 60, 40, 900.0);
  builder.dataset.trials.back().samples.timer = model::Timer::kHost;
  builder.session("2026-11-29T10:00:00Z");
  builder.measured("rmsnorm", 64, 60, 40, 18.0);
  const Report report = make_report(builder.dataset, false);
  const auto sections = document_of(report).sections;
  ASSERT_EQ(sections.size(), 3U);  // the last one is for programs
  EXPECT_EQ(sections[0].title, "rmsnorm on AMD EPYC, timer host, cold cache");
  EXPECT_EQ(sections[0].remarks, (std::vector<std::string>{"a time of this host's CPU: it says nothing of a GPU"}));
  EXPECT_EQ(sections[1].title, "rmsnorm on NVIDIA H200, timer events, cold L2");
  EXPECT_TRUE(sections[1].remarks.empty());
  EXPECT_EQ(sections[0].table.rows.size(), 1U);
  EXPECT_NE(shown("term", report, 80, false).find("note: a time of this host's CPU"), std::string::npos);
}

TEST(Term, SaysOnceWhatRowsShareAndNamesTheFewAWarningIsAbout) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 6}) {
    builder.problem("rope", rows, 60, 40).problem.attrs = {{"interleaved", {1, ""}}, {"mode", {rows > 3 ? 1 : 0, ""}}};
    builder.trial(variant_of(1024), 10.0).warnings = {rows > 1 ? "hot" : "cool"};
    builder.account();
  }
  const auto sections = document_of(make_report(builder.dataset, false)).sections;
  ASSERT_EQ(sections.size(), 2U);
  EXPECT_EQ(sections[0].legend, (std::vector<std::string>{"session 1 of 2026-11-29", "every problem: interleaved=1",
                                                          "variant: BLOCK_SIZE=1024, num_warps=4, LOADER=ldg"}));
  EXPECT_EQ(sections[0].table.rows[0][0], "M=1 N=4096 bf16 mode=0");
  EXPECT_EQ(sections[0].remarks,
            (std::vector<std::string>{
                "cool (M=1 N=4096 bf16 mode=0)",
                "hot (M=2 N=4096 bf16 mode=0; M=3 N=4096 bf16 mode=0; M=4 N=4096 bf16 mode=1; 2 more)"}));
}

TEST(Term, AllShowsTrialsWithOutcomeAndRemarks) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  builder.problem("rmsnorm", 4096, 60000000, 40000000);
  builder.trial(variant_of(1024), 30.0);
  builder.failure(variant_of(256), model::Outcome::kWrongResult, "y: 3 of 4 differ");
  builder.account();
  const std::string text = shown("term", make_report(builder.dataset, true), 0, false);
  EXPECT_EQ(text, R"(rmsnorm on NVIDIA H200, nothing measured
  session 1 of 2026-11-29
  variant: BLOCK_SIZE=256, num_warps=4, LOADER=ldg
problem             trial  outcome      remarks
M=4096 N=4096 bf16      2  WrongResult  y: 3 of 4 differ

rmsnorm on NVIDIA H200, timer events, cold L2
  session 1 of 2026-11-29
  variant: BLOCK_SIZE=1024, num_warps=4, LOADER=ldg
problem                time  GB/s  speed-up  trial  outcome
M=4096 N=4096 bf16  30.0 µs  3333     1.00×      1  Measured

note: no ceiling for NVIDIA H200, driver 580.159.04 (events, cold L2): `ktune roofline` measures it
)");
}

TEST(Markdown, IsATableUnderAHeading) {
  const std::string text = shown("md", sample_report(), 0, false);
  EXPECT_TRUE(text.starts_with("## rmsnorm on NVIDIA H200, timer events, cold L2\n\nsession 7 of 2026-11-29  \n"))
      << text;
  EXPECT_NE(text.find("\n\n| problem "), std::string::npos) << text;
  EXPECT_NE(text.find("| M=4096 N=4096 bf16 | 8 |"), std::string::npos) << text;
}

TEST(Csv, HasEveryColumnUnderItsKeyWithFullPrecision) {
  const std::string text = shown("csv", sample_report(), 0, false);
  std::string header;
  for (const Metric& metric : metrics()) header += (header.empty() ? "" : ",") + std::string(metric.key);
  EXPECT_TRUE(text.starts_with(header)) << text;
  EXPECT_NE(text.find("rmsnorm,\"M=4096,N=4096\",bf16,scalar_t=bf16,,NVIDIA H200,"
                      "\"BLOCK_SIZE=4096,num_warps=8,LOADER=ldg\",\"BLOCK_SIZE=1024,num_warps=4,LOADER=ldg\",18.9,"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(",WrongResult=1,"), std::string::npos) << text;
}

TEST(Html, EscapesWhatItShows) {
  Report report = sample_report();
  report.notes = {"a < b & c"};
  const std::string text = shown("html", report, 0, false);
  EXPECT_TRUE(text.starts_with("<!doctype html>"));
  EXPECT_NE(text.find("<td>M=4096 N=4096 bf16</td><td>8</td><td class=\"r\">18.9 µs</td>"), std::string::npos) << text;
  EXPECT_NE(text.find("<li>a &lt; b &amp; c</li>"), std::string::npos);
}

TEST(Formats, AreFoundByNameAndAnUnknownOneIsSuggested) {
  for (const Format<Report>& format : formats()) {
    EXPECT_EQ(&find_format(formats(), format.name), &format);
    EXPECT_FALSE(format.print({}, 80, false).find('\0') != std::string::npos);
  }
  try {
    find_format(formats(), "jsn");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(error.message(), "unknown format 'jsn'; did you mean 'json'?");
    EXPECT_TRUE(error.hint().starts_with("formats: term, ")) << error.hint();
  }
}

TEST(Metrics, HaveDistinctKeysAndTitlesAndACellUnlessTheTableWritesIt) {
  std::set<std::string_view> keys;
  for (const Metric& metric : metrics()) {
    EXPECT_TRUE(keys.insert(metric.key).second) << metric.key;
    EXPECT_NE(metric.get, nullptr);
    EXPECT_NE(metric.set, nullptr);
    const bool own_cell = metric.key == "problem" || metric.key == "variant" || metric.shown == Shown::kNever;
    EXPECT_TRUE(own_cell || metric.text != nullptr) << metric.key;
  }
}

}  // namespace
}  // namespace ktune::report
