#include "report/metric.h"

#include <fmt/format.h>

#include "base/text.h"

namespace ktune::report {

namespace {

using model::Json;

// --- getters and setters by member

template <auto kMember>
Json get_number(const Row& row) {
  const auto& value = row.*kMember;
  return value ? Json(*value) : Json();
}
template <auto kMember>
void set_number(const Json& json, Row& row) {
  if (!json.is_null()) (row.*kMember) = json.get<typename std::decay_t<decltype(row.*kMember)>::value_type>();
}
template <auto kMember>
Json get_text(const Row& row) {
  return (row.*kMember).empty() ? Json() : Json(row.*kMember);
}
template <auto kMember>
Json get_count(const Row& row) {
  return row.*kMember;
}
template <auto kMember>
void set_plain(const Json& json, Row& row) {
  if (!json.is_null()) json.get_to(row.*kMember);
}
Json get_trial(const Row& row) { return row.trial == 0 ? Json() : Json(row.trial); }

// --- values that are a number or a name, and lists of them

Json value_json(const model::Value& value) { return value.name.empty() ? Json(value.number) : Json(value.name); }

model::Value value_from(const Json& json) {
  if (json.is_string()) return {0, json.get<std::string>()};
  return {json.get<std::int64_t>(), ""};
}

using Values = std::vector<std::pair<std::string, model::Value>>;

Json values_json(const Values& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = value_json(value);
  return json;
}

Values values_from(const Json& json) {
  if (!json.is_object()) throw Json::type_error::create(302, "an object is wanted", &json);
  Values values;
  for (const auto& [name, value] : json.items()) values.emplace_back(name, value_from(value));
  return values;
}

template <auto kMember>
Json get_variant(const Row& row) {
  return (row.*kMember).values.empty() ? Json() : values_json((row.*kMember).values);
}
template <auto kMember>
void set_variant(const Json& json, Row& row) {
  if (!json.is_null()) (row.*kMember).values = values_from(json);
}

// --- the problem: its sizes, and after them the overrides that a few problems have

constexpr const char* kOverrides[] = {"strides", "offsets", "scalars", "inits"};

Json get_problem(const Row& row) {
  Json json = Json::object();
  for (const auto& [name, size] : row.problem.dims) json[name] = size;
  const Json whole = row.problem;
  for (const char* name : kOverrides)
    if (const auto at = whole.find(name); at != whole.end()) json[name] = *at;
  return json;
}

void set_problem(const Json& json, Row& row) {
  if (!json.is_object()) throw Json::type_error::create(302, "an object is wanted", &json);
  Json dims = Json::object(), whole = Json::object();
  for (const auto& [name, value] : json.items()) (value.is_object() ? whole : dims)[name] = value;
  whole["dims"] = dims;
  whole["op"] = row.op;
  whole.get_to(row.problem);
}

Json get_dtype(const Row& row) { return row.problem.types.empty() ? Json() : Json(row.problem.dtype()); }
void set_nothing(const Json&, Row&) {}

Json get_dtypes(const Row& row) {
  Json json = Json::object();
  for (const auto& [name, dtype] : row.problem.types) json[name] = dtype;
  return json;
}

void set_dtypes(const Json& json, Row& row) {
  row.problem.types.clear();
  for (const auto& [name, dtype] : json.items()) row.problem.types.emplace_back(name, dtype.get<std::string>());
}

Json get_attrs(const Row& row) { return values_json(row.problem.attrs); }
void set_attrs(const Json& json, Row& row) { row.problem.attrs = values_from(json); }

Json get_tie_set(const Row& row) {
  Json json = Json::array();
  for (const model::Variant& variant : row.tie_set) json.push_back(values_json(variant.values));
  return json;
}
void set_tie_set(const Json& json, Row& row) {
  if (!json.is_array()) throw Json::type_error::create(302, "an array is wanted", &json);
  for (const Json& values : json) row.tie_set.push_back({values_from(values)});
}

// --- cells

template <auto kMember>
std::string time_cell(const Row& row) {
  return row.*kMember ? format_time_us(*(row.*kMember)) : std::string(kMissing);
}
template <auto kMember>
std::string percent_cell(const Row& row) {
  return row.*kMember ? fmt::format("{:.1f}", *(row.*kMember)) : std::string(kMissing);
}
/// Three digits at least: a small problem on a CPU moves less than 1 GB/s.
std::string rate_cell(const Row& row) {
  if (!row.gbps) return std::string(kMissing);
  return fmt::format("{:.{}f}", *row.gbps, *row.gbps >= 100.0 ? 0 : *row.gbps >= 10.0 ? 1 : 2);
}
std::string speedup_cell(const Row& row) {
  return row.speedup_vs_default ? fmt::format("{:.2f}×", *row.speedup_vs_default) : std::string(kMissing);
}
template <auto kMember>
std::string count_cell(const Row& row) {
  return std::to_string(row.*kMember);
}
std::string failed_cell(const Row& row) { return std::to_string(failed_of(row)); }
/// Half the interval's width, in per cent of the time: how far the time can be trusted.
std::string interval_cell(const Row& row) {
  if (!row.ci_low_us || !row.ci_high_us || !row.time_us || *row.time_us <= 0.0) return std::string(kMissing);
  return fmt::format("{:.1f}", 50.0 * (*row.ci_high_us - *row.ci_low_us) / *row.time_us);
}
std::string ratio_cell(const Row& row) {
  return row.dram_ratio ? fmt::format("{:.2f}", *row.dram_ratio) : std::string(kMissing);
}
/// How many variants share the first place.
std::string ties_cell(const Row& row) {
  return row.tie_set.empty() ? std::string(kMissing) : std::to_string(row.tie_set.size());
}
std::string outcome_cell(const Row& row) { return row.outcome.empty() ? std::string(kMissing) : row.outcome; }
std::string trial_cell(const Row& row) { return row.trial == 0 ? std::string(kMissing) : std::to_string(row.trial); }
std::string warnings_cell(const Row& row) { return join(row.warnings, "; "); }

// --- rows of one kind

template <auto kMember>
constexpr Metric plain_text(std::string_view key) {
  return {key, key, "", Better::kNeither, Shown::kNever, false, 9, get_text<kMember>, set_plain<kMember>, nullptr};
}
template <auto kMember>
constexpr Metric hidden_number(std::string_view key, std::string_view unit, Better better = Better::kNeither) {
  return {key, key, unit, better, Shown::kNever, true, 9, get_number<kMember>, set_number<kMember>, nullptr};
}
template <auto kMember>
constexpr Metric later_number(std::string_view key, std::string_view unit) {
  Metric metric = hidden_number<kMember>(key, unit);
  metric.later = true;
  return metric;
}
template <auto kMember>
constexpr Metric count(std::string_view key, std::string_view title, int priority) {
  return {key,
          title,
          "",
          Better::kNeither,
          Shown::kWinners,
          true,
          priority,
          get_count<kMember>,
          set_plain<kMember>,
          count_cell<kMember>};
}

constexpr auto kNeither = Better::kNeither;
constexpr auto kLower = Better::kLower;
constexpr auto kHigher = Better::kHigher;
constexpr auto kNever = Shown::kNever;
constexpr auto kBoth = Shown::kBoth;

// clang-format off
constexpr Metric kMetrics[] = {
    plain_text<&Row::op>("op"),
    {"problem", "problem", "", kNeither, kBoth, false, 0, get_problem, set_problem, nullptr},
    {"dtype", "dtype", "", kNeither, kNever, false, 9, get_dtype, set_nothing, nullptr},
    {"dtypes", "dtypes", "", kNeither, kNever, false, 9, get_dtypes, set_dtypes, nullptr},
    {"attrs", "attrs", "", kNeither, kNever, false, 9, get_attrs, set_attrs, nullptr},
    plain_text<&Row::device>("device"),
    {"variant", "variant", "", kNeither, kBoth, false, 0, get_variant<&Row::variant>, set_variant<&Row::variant>, nullptr},
    {"default_variant", "default", "", kNeither, kNever, false, 9, get_variant<&Row::default_variant>, set_variant<&Row::default_variant>, nullptr},
    {"time_us", "time", "us", kLower, kBoth, true, 0, get_number<&Row::time_us>, set_number<&Row::time_us>, time_cell<&Row::time_us>},
    hidden_number<&Row::ci_low_us>("ci_low_us", "us", kLower),
    hidden_number<&Row::ci_high_us>("ci_high_us", "us", kLower),
    {"ci_level", "± %", "", kNeither, Shown::kWinners, true, 3, get_number<&Row::ci_level>, set_number<&Row::ci_level>, interval_cell},
    hidden_number<&Row::n>("n", ""),
    plain_text<&Row::timer>("timer"),
    plain_text<&Row::cache_state>("cache_state"),
    hidden_number<&Row::bytes>("bytes", "bytes"),
    hidden_number<&Row::bytes_read>("bytes_read", "bytes"),
    hidden_number<&Row::bytes_written>("bytes_written", "bytes"),
    {"gbps", "GB/s", "GB/s", kHigher, kBoth, true, 1, get_number<&Row::gbps>, set_number<&Row::gbps>, rate_cell},
    {"pct_spec", "% spec", "%", kHigher, Shown::kWinners, true, 4, get_number<&Row::pct_spec>, set_number<&Row::pct_spec>, percent_cell<&Row::pct_spec>},
    {"pct_ceiling", "% ceil", "%", kHigher, kBoth, true, 2, get_number<&Row::pct_ceiling>, set_number<&Row::pct_ceiling>, percent_cell<&Row::pct_ceiling>},
    {"floor_us", "floor", "us", kLower, Shown::kWinners, true, 7, get_number<&Row::floor_us>, set_number<&Row::floor_us>, time_cell<&Row::floor_us>},
    {"pct_floor", "% floor", "%", kHigher, Shown::kWinners, true, 6, get_number<&Row::pct_floor>, set_number<&Row::pct_floor>, percent_cell<&Row::pct_floor>, true},
    {"default_time_us", "default", "us", kLower, Shown::kWinners, true, 8, get_number<&Row::default_time_us>, set_number<&Row::default_time_us>, time_cell<&Row::default_time_us>},
    {"speedup_vs_default", "speed-up", "", kHigher, kBoth, true, 3, get_number<&Row::speedup_vs_default>, set_number<&Row::speedup_vs_default>, speedup_cell},
    count<&Row::enumerated>("enumerated", "points", 8),
    count<&Row::rejected>("rejected", "rejected", 6),
    count<&Row::measured>("measured", "measured", 5),
    {"failed", "failed", "", kLower, Shown::kWinners, true, 2, get_count<&Row::failed>, set_plain<&Row::failed>, failed_cell},
    count<&Row::not_visited>("not_visited", "not visited", 6),
    count<&Row::reused>("reused", "re-used", 8),
    {"session", "session", "", kNeither, kNever, true, 9, get_count<&Row::session>, set_plain<&Row::session>, count_cell<&Row::session>},
    plain_text<&Row::spec_hash>("spec_hash"),
    plain_text<&Row::commit>("commit"),
    plain_text<&Row::driver>("driver"),
    plain_text<&Row::toolkit>("toolkit"),
    plain_text<&Row::date>("date"),
    {"trial", "trial", "", kNeither, Shown::kAll, true, 2, get_trial, set_plain<&Row::trial>, trial_cell},
    {"outcome", "outcome", "", kNeither, Shown::kAll, false, 1, get_text<&Row::outcome>, set_plain<&Row::outcome>, outcome_cell},
    later_number<&Row::launches>("launches", ""),
    later_number<&Row::dram_read>("dram_read", "bytes"),
    later_number<&Row::dram_written>("dram_written", "bytes"),
    later_number<&Row::default_dram_read>("default_dram_read", "bytes"),
    later_number<&Row::default_dram_written>("default_dram_written", "bytes"),
    {"dram_ratio", "DRAM/model", "", kNeither, Shown::kWinners, true, 7, get_number<&Row::dram_ratio>, set_number<&Row::dram_ratio>, ratio_cell, true},
    {"tie_set", "tied", "", kNeither, Shown::kWinners, true, 7, get_tie_set, set_tie_set, ties_cell, true},
    {"warnings", "remarks", "", kNeither, Shown::kAll, false, 3, get_count<&Row::warnings>, set_plain<&Row::warnings>, warnings_cell},
};
// clang-format on

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

}  // namespace ktune::report
