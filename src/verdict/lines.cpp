#include "verdict/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace ktune::verdict {

namespace {

constexpr const char* kDash = "–";

/// WRONG first, PASS last; NO DATA that is in nobody's way is not worth more than an improvement.
int badness(const Row& row) {
  switch (row.verdict) {
    case Verdict::kWrong:
      return 7;
    case Verdict::kRegressed:
      return 6;
    case Verdict::kEnvironment:
      return 5;
    case Verdict::kNoData:
      return row.blocks ? 4 : 2;
    case Verdict::kInconclusive:
      return 3;
    case Verdict::kImproved:
      return 1;
    case Verdict::kPass:
      break;
  }
  return 0;
}

std::string time_text(double us) {
  if (std::isnan(us)) return kDash;
  // As many digits as what is printed has, not what it was rounded from: 9.9996 is 10.00, as 10.0004 is.
  return fmt::format("{:.{}f}", us, us < 9.9995 ? 3 : us < 99.995 ? 2 : us < 999.95 ? 1 : 0);
}

std::string shift_cell(double percent) { return std::isnan(percent) ? kDash : fmt::format("{:+.2f}", percent); }

std::string interval_text(const Row& row) {
  if (std::isnan(row.low_pct) && std::isnan(row.high_pct)) return kDash;
  return shift_cell(row.low_pct) + " to " + shift_cell(row.high_pct);
}

/// Up to two decimals, none that are zero.
std::string short_number(double value) {
  if (std::isnan(value)) return kDash;
  std::string text = fmt::format("{:.2f}", value);
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

/// "11 pass, 2 inconclusive": the verdicts of the rows other than `but`, best last.
std::string counts_text(const Result& result, Verdict but) {
  constexpr std::array kOrder{Verdict::kWrong,        Verdict::kRegressed, Verdict::kEnvironment, Verdict::kNoData,
                              Verdict::kInconclusive, Verdict::kImproved,  Verdict::kPass};
  std::vector<std::string> parts;
  for (const Verdict verdict : kOrder) {
    const auto count =
        std::count_if(result.rows.begin(), result.rows.end(), [&](const Row& row) { return row.verdict == verdict; });
    if (count > 0 && verdict != but) parts.push_back(fmt::format("{} {}", count, ascii_lower(name_of(verdict))));
  }
  const auto identical =
      std::count_if(result.rows.begin(), result.rows.end(), [](const Row& r) { return r.identical; });
  if (identical > 0) parts.push_back(fmt::format("{} with the same machine code", identical));
  return join(parts, ", ");
}

/// What ran of the pairs that were asked for.
std::string pairs_text(const Result& result) {
  int most = 0;
  std::size_t again = 0;
  for (const Row& row : result.rows) {
    most = std::max(most, row.pairs);
    again += row.pairs > result.pairs ? 1 : 0;
  }
  if (most == 0) return "not timed";
  const int first = std::min(most, result.pairs);
  std::string text = fmt::format("{} pair{} of processes", first, first == 1 ? "" : "s");
  if (again > 0) text += fmt::format(" and {} more for {} kernel{}", most - first, again, again == 1 ? "" : "s");
  return text;
}

std::string time_used(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  return whole < 120 ? fmt::format("{} s", whole) : fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

std::string revision(const std::string& name, const std::string& commit) {
  if (commit.empty()) return name;
  const std::string brief = commit.substr(0, 12);
  return name.empty() || name == commit ? brief : fmt::format("{} ({})", name, brief);
}

/// What all rows share of those that have it; "": they differ, or none has it.
std::string shared(const Result& result, std::string Row::* field) {
  std::string value;
  for (const Row& row : result.rows) {
    if ((row.*field).empty()) continue;
    if (!value.empty() && value != row.*field) return "";
    value = row.*field;
  }
  return value;
}

/// A figure: its text for people, and all of its digits.
Cell figure(double value, std::string (*text)(double)) { return Cell::number(value, text(value)); }
Cell word(const std::string& text) { return text.empty() ? Cell::nothing(kDash) : Cell(text); }

/// One column: its title, where it stands, and the cell of a row ("–" where it has none).
struct Column {
  Table::Column head;
  Cell (*cell)(const Row&);
};
const std::array kColumns{
    Column{{"op"}, [](const Row& row) -> Cell { return row.op; }},
    Column{{"problem"}, [](const Row& row) -> Cell { return row.problem; }},
    Column{{"for", false, 0, "target"}, [](const Row& row) { return word(row.target); }},
    Column{{"base µs", true, 1, "base_us"}, [](const Row& row) { return figure(row.base_us, time_text); }},
    Column{{"new µs", true, 0, "candidate_us"}, [](const Row& row) { return figure(row.candidate_us, time_text); }},
    Column{{"shift %", true, 0, "shift_pct"}, [](const Row& row) { return figure(row.shift_pct, shift_cell); }},
    Column{{"interval", true, 0, "", Audience::kPeople},
           [](const Row& row) -> Cell {
             const std::string text = interval_text(row);
             return text == kDash ? Cell::nothing(text) : Cell(text);
           }},
    Column{{"low %", true, 0, "low_pct", Audience::kPrograms},
           [](const Row& row) { return figure(row.low_pct, shift_cell); }},
    Column{{"high %", true, 0, "high_pct", Audience::kPrograms},
           [](const Row& row) { return figure(row.high_pct, shift_cell); }},
    Column{{"delta %", true, 2, "delta_pct"}, [](const Row& row) { return figure(row.delta_pct, short_number); }},
    // Worth a place only where noise hides what delta asks for.
    Column{{"visible %", true, 3, "visible_pct"},
           [](const Row& row) {
             return row.visible_pct <= row.delta_pct ? Cell::nothing(kDash) : figure(row.visible_pct, short_number);
           }},
    Column{{"timer", false, 4}, [](const Row& row) { return word(row.timer); }},
    Column{{"variant", false, 5}, [](const Row& row) { return word(variant_of(row)); }},
    Column{{"reason", false, 0, "", Audience::kPrograms}, [](const Row& row) { return word(row.reason); }}};

}  // namespace

Style style_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kWrong:
    case Verdict::kRegressed:
      return Style::kRed;
    case Verdict::kEnvironment:
    case Verdict::kNoData:
    case Verdict::kInconclusive:
      return Style::kYellow;
    case Verdict::kImproved:
      return Style::kCyan;
    case Verdict::kPass:
      break;
  }
  return Style::kGreen;
}

Standing standing_of(const Row& row, bool pass_inconclusive) {
  switch (row.verdict) {
    case Verdict::kPass:
      return Standing::kPasses;
    case Verdict::kImproved:
      return Standing::kNews;
    case Verdict::kInconclusive:
      return pass_inconclusive ? Standing::kLetBy : Standing::kFails;
    case Verdict::kNoData:
      return row.blocks ? Standing::kErrs : Standing::kNews;
    case Verdict::kEnvironment:
      return Standing::kErrs;
    case Verdict::kRegressed:
    case Verdict::kWrong:
      break;
  }
  return Standing::kFails;
}

std::vector<const Row*> worst_first(const Result& result) {
  std::vector<const Row*> rows;
  for (const Row& row : result.rows) rows.push_back(&row);
  const auto shift = [](const Row& row) { return std::isnan(row.shift_pct) ? -1e300 : row.shift_pct; };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row* a, const Row* b) {
    if (badness(*a) != badness(*b)) return badness(*a) > badness(*b);
    return shift(*a) > shift(*b);
  });
  return rows;
}

std::string summary_of(const Result& result) {
  const auto total = result.rows.size();
  const auto count = std::count_if(result.rows.begin(), result.rows.end(),
                                   [&](const Row& row) { return row.verdict == result.verdict; });
  std::string text = fmt::format("{}: ", name_of(result.verdict));
  if (count > 0) text += fmt::format("{} of ", count);
  text += fmt::format("{} kernel{}", total, total == 1 ? "" : "s");
  const std::string others = counts_text(result, result.verdict);
  if (!others.empty()) text += " (" + others + ")";
  if (result.verdict == Verdict::kInconclusive && result.pass_inconclusive) text += ", let by";
  if (result.pairs > 0 && (result.mode == Mode::kPaired || result.mode == Mode::kSelf))
    text += ", " + pairs_text(result);
  return result.seconds > 0 ? text + ", " + time_used(result.seconds) : text;
}

std::string kernel_of(const Row& row) {
  std::string text = row.problem.empty() ? row.op : row.op + " " + row.problem;
  return row.target.empty() ? text : text + " for " + row.target;
}

std::string variant_of(const Row& row) {
  if (row.base_variant == row.candidate_variant || row.base_variant.empty()) return row.candidate_variant;
  return row.candidate_variant.empty() ? row.base_variant : row.base_variant + " → " + row.candidate_variant;
}

std::string explanation_of(const Row& row, Mode mode) {
  const bool stored = mode == Mode::kStored;
  std::string text;
  if (!std::isnan(row.shift_pct)) {
    text = fmt::format("{:.2f} % {}{}", std::abs(row.shift_pct), row.shift_pct < 0 ? "faster" : "slower",
                       stored ? " beside its control" : "");
    std::vector<std::string> details;
    if (!std::isnan(row.base_us) && !std::isnan(row.candidate_us))
      details.push_back(
          fmt::format("{}{} → {} µs", stored ? "by itself " : "", time_text(row.base_us), time_text(row.candidate_us)));
    std::string limits;
    if (!std::isnan(row.low_pct) || !std::isnan(row.high_pct)) limits = interval_text(row) + " %";
    if (!std::isnan(row.delta_pct))
      limits += fmt::format("{}delta {} %", limits.empty() ? "" : ", ", short_number(row.delta_pct));
    if (!limits.empty()) details.push_back(limits);
    if (!details.empty()) text += " (" + join(details, "; ") + ")";
  }
  if (row.reason.empty()) return text;
  return text.empty() ? row.reason : text + ": " + row.reason;
}

std::vector<std::pair<std::string, std::string>> provenance_of(const Result& result) {
  std::vector<std::pair<std::string, std::string>> all{
      {"mode", std::string(name_of(result.mode))},
      {"base", revision(result.base, result.base_commit)},
      {"candidate", revision(result.candidate, result.candidate_commit)},
      {"device", result.device.name},
      {"driver", result.device.driver},
      {"toolkit", result.device.toolkit}};
  if (!std::isnan(result.delta_pct)) {
    std::string delta = short_number(result.delta_pct) + " %";
    if (!std::isnan(result.delta_us)) delta += " or " + short_number(result.delta_us) + " µs";
    all.emplace_back("delta", delta);
  }
  if (result.pairs > 0) all.emplace_back("pairs", fmt::format("{}", result.pairs));
  all.emplace_back("timer", shared(result, &Row::timer));
  all.emplace_back("cache", shared(result, &Row::cache_state));
  all.emplace_back("date", result.date);
  all.emplace_back("ktune", revision(result.version, result.commit));
  all.emplace_back("command", result.command);
  std::erase_if(all, [](const auto& pair) { return pair.second.empty(); });
  return all;
}

Table table_of(const Result& result, const std::vector<const Row*>& rows) {
  Table table;
  table.full_format = "json";
  table.columns.push_back({"verdict"});
  const std::string timer = shared(result, &Row::timer);  // one for all stands in provenance_of
  for (const Column& column : kColumns) {
    auto& head = table.columns.emplace_back(column.head);
    const bool says_nothing = std::all_of(result.rows.begin(), result.rows.end(), [&](const Row& row) {
      return column.cell(row).kind == Cell::Kind::kNothing;
    });
    if (says_nothing || (head.title == "timer" && !timer.empty())) head.audience = Audience::kPrograms;
  }
  for (const Row* row : rows) {
    std::vector<Cell> cells{Cell(name_of(row->verdict))};
    cells.front().style = style_of(row->verdict);
    for (const Column& column : kColumns) cells.push_back(column.cell(*row));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace ktune::verdict
