#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <type_traits>

#include "base/error.h"
#include "model/comparison.h"
#include "model/json.h"
#include "verdict/formats.h"
#include "verdict/print.h"

// Results come from files that people pass on, so that reading them says which field is wrong.

namespace ktune::verdict {

using model::Json;

namespace {

constexpr std::string_view kSchema = "ktune.gate/1";
constexpr std::string_view kSchemaName = "ktune.gate/";

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

[[noreturn]] void refuse(const std::string& message, const std::string& where, const std::string& hint = {}) {
  throw Error(ErrorKind::kUsage, message, hint, where);
}

bool read_value(const Json& json, std::string& value) {
  if (!json.is_string()) return false;
  value = json.get<std::string>();
  return true;
}

bool read_value(const Json& json, bool& value) {
  if (!json.is_boolean()) return false;
  value = json.get<bool>();
  return true;
}

bool read_value(const Json& json, int& value) {
  if (!json.is_number_integer()) return false;
  const auto number = json.get<std::int64_t>();
  if (number < 0 || number > std::numeric_limits<int>::max()) return false;
  value = static_cast<int>(number);
  return true;
}

bool read_value(const Json& json, std::uint64_t& value) {
  if (!json.is_number_unsigned()) return false;
  value = json.get<std::uint64_t>();
  return true;
}

bool read_value(const Json& json, double& value) {
  if (!json.is_null() && !json.is_number() && json != "inf" && json != "-inf") return false;
  value = model::number_from(json);
  return true;
}

template <typename Enum>
  requires std::is_enum_v<Enum>
bool read_value(const Json& json, Enum& value) {
  const auto named = json.is_string() ? parse_as(value, json.get<std::string>()) : std::nullopt;
  if (named) value = *named;
  return named.has_value();
}

bool read_value(const Json& json, model::DeviceFacts& value) {
  if (!json.is_object()) return false;
  try {
    value = json.get<model::DeviceFacts>();
  } catch (const Json::exception&) {
    return false;
  }
  return true;
}

bool read_value(const Json& json, Change& value) {
  bool good = json.is_object();
  Change::fields(value, [&](const char* name, std::string& text) {
    good = good && json.contains(name) && read_value(json.at(name), text);
  });
  return good;
}

template <typename T>
bool read_value(const Json& json, std::vector<T>& values) {
  if (!json.is_array()) return false;
  for (const Json& item : json) {
    T value{};
    if (!read_value(item, value)) return false;
    values.push_back(std::move(value));
  }
  return true;
}

/// Reads the fields of an object; `prefix` names it in messages.
struct Reader {
  const Json& json;
  std::string prefix;
  const std::string& where;

  template <typename T>
  void operator()(const char* name, T& value, model::FieldRule rule = {}) const {
    const auto at = json.find(name);
    if (at == json.end() && rule.may_miss) return;
    if (at == json.end()) refuse(fmt::format("{}{} is missing", prefix, name), where);
    if (!read_value(*at, value)) {
      std::string text = dumped(*at);
      if (text.size() > 60) text = text.substr(0, 60) + "…";
      refuse(fmt::format("{}{} cannot be {}", prefix, name, text), where);
    }
  }
};

Json parse_text(const std::string& text, const std::string& where) {
  try {
    return model::parse_json(text);
  } catch (const Json::parse_error& error) {
    refuse(error.byte > text.size() ? "this JSON ends too early: the file was cut" : "this is not JSON",
           where + ":" + model::place_of(error, text), "`ktune gate --format json` writes it");
  } catch (const Json::exception& error) {  // a number beyond a double, nested without end
    refuse(fmt::format("this is no result of ktune gate: {}", error.what()), where);
  }
}

void check_schema(const Json& json, const std::string& where) {
  const auto at = json.is_object() ? json.find("schema") : json.end();
  if (!json.is_object() || at == json.end() || !at->is_string())
    refuse("this is no result of ktune gate", where, "`ktune gate --format json` writes one");
  const std::string schema = at->get<std::string>();
  if (schema == kSchema) return;
  if (schema.starts_with(kSchemaName))
    refuse(fmt::format("the result was written by another ktune (schema {}, this one reads {})", schema, kSchema),
           where, "use that ktune");
  refuse(fmt::format("this is no result of ktune gate: its schema is {}", schema), where,
         fmt::format("{} is wanted: `ktune gate --format json` writes it", kSchema));
}

/// What a row's verdict cannot be with these figures; "": it can.
std::string contradiction_of(const Row& row, Mode mode) {
  if (row.verdict != Verdict::kPass || row.identical || mode == Mode::kStatic) return "";
  const auto& figures = row.candidate_figures_us;
  if (row.pairs < 1 || figures.empty() || !std::all_of(figures.begin(), figures.end(), model::is_time))
    return "has no figures";
  if (!(row.high_pct < row.delta_pct)) return "may be slower by delta";
  return "";
}

void check_consistency(const Result& result, const std::string& where) {
  const std::string hint = "the file was edited: run the gate again";
  std::set<std::vector<std::string>> seen;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const Row& row = result.rows[i];
    const std::string name = fmt::format("rows[{}]", i);
    if (const std::string what = contradiction_of(row, result.mode); !what.empty())
      refuse(fmt::format("{} is {} and {}", name, name_of(row.verdict), what), where, hint);
    if (!seen.insert({row.op, row.problem, row.base_variant, row.candidate_variant, row.target}).second)
      refuse(fmt::format("{} stands there twice", name), where, hint);
  }
  if (const Verdict verdict = overall(result.rows); verdict != result.verdict)
    refuse(fmt::format("verdict is {} and its rows make {}", name_of(result.verdict), name_of(verdict)), where, hint);
}

}  // namespace

/// Schema ktune.gate/1: every field of Result by its name; a NaN is null.
std::string print_json(const Result& result, int, bool) {
  // A field a line, a row a line: a diff of two results shows what changed.
  std::string out = fmt::format("{{\n  \"schema\": \"{}\",\n", kSchema);
  Result::fields(result, [&](const char* name, const auto& value, model::FieldRule = {}) {
    out += fmt::format("  \"{}\": {},\n", name, dumped(model::value_json(value)));
  });
  out += "  \"rows\": [";
  const char* separator = "\n";
  for (const Row& row : result.rows) {
    out += fmt::format("{}    {}", separator, dumped(row));
    separator = ",\n";
  }
  return out + (result.rows.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

Result parse_result(const std::string& text, const std::string& where) {
  const Json json = parse_text(text, where);
  check_schema(json, where);
  Result result;
  Result::fields(result, Reader{json, "", where});
  const auto rows = json.find("rows");
  if (rows == json.end() || !rows->is_array()) refuse("the result has no rows", where);
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const Json& item = (*rows)[i];
    const std::string name = fmt::format("rows[{}]", i);
    if (!item.is_object()) refuse(name + " is not an object", where);
    Row row;
    Row::fields(row, Reader{item, name + ".", where});
    result.rows.push_back(std::move(row));
  }
  check_consistency(result, where);
  return result;
}

}  // namespace ktune::verdict
