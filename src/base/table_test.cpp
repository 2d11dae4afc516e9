#include "base/table.h"

#include <gtest/gtest.h>

namespace ktune {
namespace {

Table example_table() {
  Table table;
  table.columns = {{"problem", false, 0}, {"time", true, 0}, {"GB/s", true, 1}, {"note", false, 2}};
  table.rows = {{"M=4096 bf16", "21.3 µs", "3154", "cold"}, {"M=17 f32", "3.10 µs", "–", ""}};
  return table;
}

TEST(Table, ColumnsAreAlignedByWhatTheTerminalShows) {
  EXPECT_EQ(example_table().term(0, false),
            "problem         time  GB/s  note\n"
            "M=4096 bf16  21.3 µs  3154  cold\n"
            "M=17 f32     3.10 µs     –\n");
}

TEST(Table, OnlyTheTitlesAreBold) {
  EXPECT_EQ(example_table().term(0, true).substr(0, 41), "\033[1mproblem         time  GB/s  note\033[0m\n");
  EXPECT_EQ(example_table().term(0, true).substr(41), example_table().term(0, false).substr(33));
}

TEST(Table, ANarrowTerminalLosesTheHighestPriorityNumberFirstAndIsTold) {
  EXPECT_EQ(example_table().term(31, false),
            "problem         time  GB/s\n"
            "M=4096 bf16  21.3 µs  3154\n"
            "M=17 f32     3.10 µs     –\n"
            "not shown at this width: note (--format csv has every column)\n");
  EXPECT_EQ(example_table().term(25, false),
            "problem         time\n"
            "M=4096 bf16  21.3 µs\n"
            "M=17 f32     3.10 µs\n"
            "not shown at this width: GB/s, note (--format csv has every column)\n");
}

TEST(Table, ATableThatJustFitsKeepsEveryColumn) {
  EXPECT_EQ(example_table().term(32, false), example_table().term(0, false));
}

TEST(Table, ColumnsOfPriorityZeroStayHoweverNarrowItIs) {
  EXPECT_EQ(example_table().term(5, false), example_table().term(25, false));
}

TEST(Table, AmongEqualsTheRightmostGoesFirst) {
  Table table;
  table.columns = {{"a", false, 1}, {"b", false, 1}, {"c", false, 0}};
  table.rows = {{"1", "2", "3"}};
  EXPECT_EQ(table.term(4, false), "a  c\n1  3\nnot shown at this width: b (--format csv has every column)\n");
}

TEST(Table, WithoutRowsOnlyTheTitlesArePrinted) {
  Table table = example_table();
  table.rows.clear();
  EXPECT_EQ(table.term(0, false), "problem  time  GB/s  note\n");
  EXPECT_EQ(table.csv(), "problem,time,GB/s,note\n");
}

TEST(Table, ACellOfSeveralLinesStaysInItsRow) {
  Table table;
  table.columns = {{"reason"}};
  table.rows = {{"error: a\nb"}};
  EXPECT_EQ(table.term(0, false), "reason\nerror: a b\n");
  EXPECT_EQ(table.markdown(), "| reason |\n| --- |\n| error: a<br>b |\n");
}

TEST(Table, MarkdownAlignsNumbersRightAndEscapesBars) {
  Table table;
  table.columns = {{"expr", false}, {"n", true}};
  table.rows = {{"A || B", "3"}};
  EXPECT_EQ(table.markdown(),
            "| expr | n |\n"
            "| --- | ---: |\n"
            "| A \\|\\| B | 3 |\n");
}

TEST(Table, CsvQuotesCommasQuotesAndLineBreaks) {
  Table table;
  table.columns = {{"variant"}, {"why"}};
  table.rows = {{"BLOCK_SIZE=1,num_warps=4", "says \"no\""}, {"plain", "two\nlines"}, {"short"}};
  EXPECT_EQ(table.csv(),
            "variant,why\n"
            "\"BLOCK_SIZE=1,num_warps=4\",\"says \"\"no\"\"\"\n"
            "plain,\"two\nlines\"\n"
            "short,\n");
}

TEST(Table, WhatItSaysOfLostColumnsNamesTheFormatThatHasThemAndFits) {
  Table table = example_table();
  table.full_format = "json";
  EXPECT_EQ(fitted(table, 31, false).substr(fitted(table, 31, false).find("not shown")),
            "not shown at this width: note\n  (--format json has every\n  column)\n");
  EXPECT_EQ(fitted(table, 0, false), table.term(0, false));
}

TEST(Table, TextIsBrokenAtSpacesAndIndented) {
  EXPECT_EQ(wrapped("one two three", 9, "- ", "  "), "- one two\n  three\n");
  EXPECT_EQ(wrapped("one two three", 0, "- ", "  "), "- one two three\n");
}

}  // namespace
}  // namespace ktune
