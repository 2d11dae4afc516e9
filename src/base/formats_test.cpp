#include <gtest/gtest.h>

#include "base/error.h"
#include "base/format.h"
#include "base/text.h"

namespace ktune {
namespace {

/// One section for everybody, one for programs, and every kind of cell.
Document example() {
  Document document;
  document.schema = "ktune.example/1";
  document.title = "a <b> & c";
  document.notes = {"a note"};
  document.summary = "1 passed, 0 failed";
  document.summary_style = Style::kGreen;
  Section section{"copy on <GPU>", {"session 1"}, {}, {"a remark"}};
  section.table.columns = {{"op"},
                           {"time", true, 0, "time_us"},
                           {"re-used", true, 1},
                           {"complete"},
                           {"dims"},
                           {"mark", false, 0, "", Audience::kPeople},
                           {"commit", false, 0, "", Audience::kPrograms}};
  section.table.rows = {
      {"copy", Cell::number(21.25, "21.3 µs"), 12, Cell::truth(true, "yes"), Cell::words({"M", "N"}), "*", "abc"},
      {"read", Cell::nothing("–"), 0, Cell::truth(false, "no"), Cell::words({}), "", "def"}};
  section.table.rows[0][0].style = Style::kRed;
  document.sections.push_back(section);
  Section other{"", {}, {{{"part"}}, {{"spec"}}}, {}, Audience::kPrograms, "parts"};
  document.sections.push_back(other);
  return document;
}

/// A table of one cell.
Document one_cell(const Cell& cell) {
  Document document;
  document.schema = "x/1";
  document.sections.push_back({"", {}, {{{"text"}}, {{cell}}}, {}});
  return document;
}

std::string cell_in(std::string (*print)(const Document&, int, bool), const std::string& text) {
  return print(one_cell(text), 0, false);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(TermFormat, ShowsWhatPeopleRead) {
  EXPECT_EQ(print_term(example(), 0, false),
            "copy on <GPU>\n  session 1\n"
            "op       time  re-used  complete  dims  mark\n"
            "copy  21.3 µs       12  yes       M N   *\n"
            "read        –        0  no\n"
            "note: a remark\n\nnote: a note\n1 passed, 0 failed\n");
}

TEST(TermFormat, ColoursACellAndTheSummary) {
  const std::string text = print_term(example(), 0, true);
  EXPECT_TRUE(holds(text, "\n\033[31mcopy\033[0m  21.3 µs")) << text;
  EXPECT_TRUE(holds(text, "\033[32m1 passed, 0 failed\033[0m\n")) << text;
}

TEST(TermFormat, KeepsARowOnOneLineAndLetsNoControlCharacterThrough) {
  EXPECT_EQ(cell_in(print_term, "a\nb\tc\033[2J\r\x07"), "text\na b c[2J\n");
}

TEST(TermFormat, GivesWayToTextOfTheDocumentsOwn) {
  Document document = example();
  document.term = [](int width, bool colour) { return std::to_string(width) + (colour ? " colours" : ""); };
  EXPECT_EQ(print_term(document, 33, true), "33 colours");
}

TEST(MarkdownFormat, HasAHeadingATableAndLists) {
  EXPECT_EQ(print_markdown(example(), 0, false),
            "## copy on <GPU>\n\nsession 1\n\n"
            "| op | time | re-used | complete | dims | mark |\n"
            "| --- | ---: | ---: | --- | --- | --- |\n"
            "| copy | 21.3 µs | 12 | yes | M N | * |\n"
            "| read | – | 0 | no |  |  |\n"
            "\n- a remark\n\n- a note\n\n1 passed, 0 failed\n");
}

TEST(MarkdownFormat, EscapesBarsAndBreaksLinesInACell) {
  EXPECT_EQ(cell_in(print_markdown, "a|b\nc\033\r"), "| text |\n| --- |\n| a\\|b<br>c |\n");
}

TEST(CsvFormat, HasValuesWithoutUnitsAndTheColumnsOfPrograms) {
  EXPECT_EQ(print_csv(example(), 0, false),
            "op,time,re-used,complete,dims,commit\n"
            "copy,21.25,12,yes,M N,abc\n"
            "read,,0,no,,def\n");
}

TEST(CsvFormat, QuotesCommasQuotesAndLineBreaks) {
  EXPECT_EQ(cell_in(print_csv, "a,b"), "text\n\"a,b\"\n");
  EXPECT_EQ(cell_in(print_csv, "say \"a\""), "text\n\"say \"\"a\"\"\"\n");
  EXPECT_EQ(cell_in(print_csv, "a\r\nb"), "text\n\"a\r\nb\"\n");
}

TEST(CsvFormat, HoldsTheTableThatTheDocumentNames) {
  Document document = example();
  document.csv_key = "parts";
  EXPECT_EQ(print_csv(document, 0, false), "part\nspec\n");
}

TEST(JsonFormat, HasASchemaAndTypedValues) {
  EXPECT_EQ(print_json(example(), 0, false),
            "{\n  \"schema\": \"ktune.example/1\",\n  \"rows\": [\n"
            "    {\"op\": \"copy\", \"time_us\": 21.25, \"re_used\": 12, \"complete\": true, \"dims\": [\"M\", \"N\"], "
            "\"commit\": \"abc\"},\n"
            "    {\"op\": \"read\", \"time_us\": null, \"re_used\": 0, \"complete\": false, \"dims\": [], "
            "\"commit\": \"def\"}\n  ],\n"
            "  \"parts\": [\n    {\"part\": \"spec\"}\n  ],\n"
            "  \"notes\": [\"a remark\", \"a note\"],\n  \"summary\": \"1 passed, 0 failed\"\n}\n");
}

TEST(JsonFormat, EscapesQuotesBackslashesAndControlCharactersAndReplacesWhatIsNoUtf8) {
  EXPECT_TRUE(holds(cell_in(print_json, "\"\\\n\t\x01\x7f"), R"("text": "\"\\\n\t\u0001\u007f")"));
  EXPECT_TRUE(holds(cell_in(print_json, "µ \xff \xed\xa0\x80 \xc0\xaf \xe2\x82"),
                    "\"text\": \"µ \uFFFD \uFFFD\uFFFD\uFFFD \uFFFD\uFFFD \uFFFD\uFFFD\""));
}

TEST(JsonFormat, WritesANumberThatJsonHasNoWordForAsTextOrNull) {
  EXPECT_TRUE(holds(print_json(one_cell(Cell::number("inf")), 0, false), "\"text\": \"inf\""));
  EXPECT_TRUE(holds(print_json(one_cell(Cell::number(1.0 / 0.0, "∞")), 0, false), "\"text\": null"));
  EXPECT_TRUE(holds(print_json(one_cell(Cell::number("-0.50")), 0, false), "\"text\": -0.50}"));
}

TEST(JsonFormat, MakesOneListOfSectionsWhoseColumnsDiffer) {
  Document document;
  document.sections.push_back({"", {}, {{{"op"}, {"A"}}, {{"one", 1}}}, {}});
  document.sections.push_back({"", {}, {{{"op"}, {"B"}}, {{"two", 2}}}, {}});
  EXPECT_TRUE(holds(print_json(document, 0, false),
                    "{\"op\": \"one\", \"A\": 1, \"B\": null},\n    {\"op\": \"two\", \"A\": null, \"B\": 2}\n"))
      << print_json(document, 0, false);
  EXPECT_EQ(print_csv(document, 0, false), "op,A,B\none,1,\ntwo,,2\n");
}

TEST(JsonFormat, MergesColumnsOfOneKeyAndLeavesOutSectionsForPeople) {
  Document document;
  document.sections.push_back({"", {}, {{{"time µs", true, 0, "time_us"}}, {{1}}}, {}});
  document.sections.push_back({"", {}, {{{"time", true, 0, "time_us"}}, {{2}}}, {}});
  document.sections.push_back({"", {}, {{{"hint"}}, {{"read on"}}}, {}, Audience::kPeople});
  EXPECT_TRUE(holds(print_json(document, 0, false), "\"rows\": [\n    {\"time_us\": 1},\n    {\"time_us\": 2}\n  ]"))
      << print_json(document, 0, false);
}

TEST(HtmlFormat, IsOnePageThatNeedsNoOtherFile) {
  const std::string text = print_html(example(), 0, false);
  EXPECT_TRUE(text.starts_with("<!doctype html>\n<html lang=\"en\">")) << text;
  EXPECT_TRUE(text.ends_with("</body>\n</html>\n")) << text;
  EXPECT_FALSE(holds(text, "http")) << text;
  EXPECT_TRUE(holds(text, "prefers-color-scheme: dark")) << text;
  EXPECT_TRUE(holds(text, "<p class=\"summary good\">1 passed, 0 failed</p>")) << text;
  EXPECT_TRUE(holds(text, "<td class=\"bad\">copy</td><td class=\"r\">21.3 µs</td>")) << text;
  EXPECT_FALSE(holds(text, "abc")) << "a column for programs";
}

TEST(HtmlFormat, EscapesWhatItShows) {
  const std::string text = print_html(example(), 0, false);
  EXPECT_TRUE(holds(text, "<title>a &lt;b&gt; &amp; c</title>")) << text;
  EXPECT_TRUE(holds(text, "<h2>copy on &lt;GPU&gt;</h2>")) << text;
  EXPECT_TRUE(holds(cell_in(print_html, "<script>&\n\033x"), "<td>&lt;script&gt;&amp;<br>x</td>"));
}

template <typename Subject>
std::vector<std::string> names_of(const std::vector<Format<Subject>>& formats) {
  std::vector<std::string> names;
  for (const Format<Subject>& format : formats) names.emplace_back(format.name);
  return names;
}

TEST(Formats, AreFoundByNameAndAnUnknownOneIsSuggested) {
  for (const Format<Document>& format : document_formats())
    EXPECT_EQ(&find_format(document_formats(), format.name), &format);
  try {
    find_format(document_formats(), "htlm");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "unknown format 'htlm'; did you mean 'html'?");
    EXPECT_EQ(error.hint(), "formats: " + join(names_of(document_formats()), ", "));
  }
}

TEST(Formats, PrintWhatTheirNameSays) {
  const auto printed = [](const char* name) {
    return find_format(document_formats(), name).print(example(), 0, false);
  };
  EXPECT_EQ(printed("term"), print_term(example(), 0, false));
  EXPECT_EQ(printed("md"), print_markdown(example(), 0, false));
  EXPECT_EQ(printed("csv"), print_csv(example(), 0, false));
  EXPECT_EQ(printed("json"), print_json(example(), 0, false));
  EXPECT_EQ(printed("html"), print_html(example(), 0, false));
}

TEST(Formats, OfASubjectAreItsOwnAndThoseOfItsDocument) {
  const std::vector<Format<int>> formats =
      formats_of<int>({{"stars", "as many",
                        [](const int& count, int, bool) { return std::string(static_cast<std::size_t>(count), '*'); }},
                       {"csv", "its own", [](const int&, int, bool) { return std::string("own"); }}},
                      [](const int& count) { return one_cell(count); });
  std::vector<std::string> expected = names_of(document_formats());
  expected.emplace_back("stars");
  EXPECT_EQ(names_of(formats), expected);
  EXPECT_EQ(find_format(formats, "term").print(7, 0, false), "text\n7\n");
  EXPECT_EQ(find_format(formats, "csv").print(7, 0, false), "own");
  EXPECT_EQ(find_format(formats, "stars").print(3, 0, false), "***");
}

}  // namespace
}  // namespace ktune
