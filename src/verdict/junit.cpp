#include <fmt/format.h>

#include <cmath>

#include "base/markup.h"
#include "base/text.h"
#include "model/json.h"
#include "verdict/lines.h"
#include "verdict/print.h"

// JUnit's XML as GitLab and Jenkins read it: a failure says no, an error says that nothing was judged, and what is let
// by is skipped. A report without a failure is shown green, so a verdict that fails the gate always has one.

namespace ktune::verdict {

namespace {

/// For an attribute or for text: markup and line breaks escaped, what XML 1.0 cannot hold left out.
std::string escaped(const std::string& text) {
  using model::Json;
  // The JSON library puts U+FFFD where there is no UTF-8.
  const std::string utf8 =
      Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
  std::string out;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const char c = utf8[i];
    const bool noncharacter = utf8.compare(i, 3, "\xEF\xBF\xBE") == 0 || utf8.compare(i, 3, "\xEF\xBF\xBF") == 0;
    if (noncharacter)
      i += 2;
    else if (const std::string_view entity = entity_of(c); !entity.empty())
      out += entity;
    else if (c == '"')
      out += "&quot;";
    else if (c == '\n' || c == '\t')
      out += fmt::format("&#{};", static_cast<int>(c));
    else if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F)
      out += c;
  }
  return out;
}

std::string attribute(std::string_view name, const std::string& value) {
  return fmt::format(" {}=\"{}\"", name, escaped(value));
}

struct Count {
  int tests = 0, failures = 0, errors = 0, skipped = 0;
  std::string attributes(double seconds) const {
    return fmt::format(" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"", tests, failures,
                       errors, skipped, seconds);
  }
};

/// What stands in a testcase: how it ended, and what there is to say.
std::string body_of(const std::string& element, Verdict verdict, const std::string& message, const std::string& text) {
  if (element.empty()) return text.empty() ? "" : "      <system-out>" + escaped(text) + "</system-out>\n";
  if (element == "skipped") return fmt::format("      <skipped{}/>\n", attribute("message", message));
  return fmt::format("      <{0}{1}{2}>{3}</{0}>\n", element, attribute("message", message),
                     attribute("type", std::string(name_of(verdict))), escaped(text));
}

std::string element_of(Standing standing, Verdict verdict, Count& count) {
  ++count.tests;
  if (standing == Standing::kFails) return ++count.failures, "failure";
  if (standing == Standing::kErrs) return ++count.errors, "error";
  const bool unseen = standing == Standing::kLetBy || verdict == Verdict::kNoData;
  return unseen ? (++count.skipped, "skipped") : "";
}

std::string testcase(const Row& row, const Result& result, Count& count) {
  const std::string element = element_of(standing_of(row, result.pass_inconclusive), row.verdict, count);
  std::string figures = explanation_of(row, result.mode);
  const std::string message = fmt::format("{}: {}", name_of(row.verdict), figures);
  const std::string variant = variant_of(row);
  if (!variant.empty()) figures += (figures.empty() ? "" : "\n") + variant;
  std::string out = "    <testcase" + attribute("classname", row.op) + attribute("name", row.problem);
  if (!row.source.empty()) out += attribute("file", row.source);
  if (!std::isnan(row.candidate_us)) out += fmt::format(" time=\"{:.9f}\"", row.candidate_us * 1e-6);
  return out + ">\n" + body_of(element, row.verdict, message, figures) + "    </testcase>\n";
}

/// For a verdict that fails the gate and is no row's own: no kernels at all, a machine that changed.
std::string whole_testcase(const Result& result, Count& count) {
  if (exit_code_of(result.verdict, result.pass_inconclusive) == 0 || count.failures + count.errors > 0) return "";
  Row row;
  row.verdict = result.verdict;
  const std::string element = element_of(standing_of(row, result.pass_inconclusive), row.verdict, count);
  return "    <testcase classname=\"ktune gate\" name=\"verdict\">\n" +
         body_of(element, row.verdict, summary_of(result), join(result.notes, "\n")) + "    </testcase>\n";
}

}  // namespace

std::string print_junit(const Result& result, int, bool) {
  Count count;
  std::string cases;
  for (const Row& row : result.rows) cases += testcase(row, result, count);
  cases += whole_testcase(result, count);
  std::string properties;
  for (const auto& [what, value] : provenance_of(result))
    properties += "      <property" + attribute("name", what) + attribute("value", value) + "/>\n";
  properties += "      <property name=\"verdict\"" + attribute("value", std::string(name_of(result.verdict))) + "/>\n";
  for (const std::string& note : result.notes)
    properties += "      <property name=\"note\"" + attribute("value", note) + "/>\n";
  const std::string totals = count.attributes(result.seconds);
  std::string date = result.date;  // JUnit's times have no zone
  if (date.ends_with('Z')) date.pop_back();
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ktune gate\"" + totals +
         ">\n  <testsuite name=\"ktune gate\"" + totals + (date.empty() ? "" : attribute("timestamp", date)) +
         ">\n    <properties>\n" + properties + "    </properties>\n" + cases + "  </testsuite>\n</testsuites>\n";
}

}  // namespace ktune::verdict
