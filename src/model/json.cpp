#include "model/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ktune::model {

Json parse_json(const std::string& text) {
  constexpr int kDeepest = 100;
  return Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepest) throw Json::other_error::create(501, "nested too deeply", nullptr);
    return true;
  });
}

std::string place_of(const Json::parse_error& error, const std::string& text) {
  const std::string before = text.substr(0, error.byte > 0 ? error.byte - 1 : 0);
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = 1 + before.size() - (newline == std::string::npos ? 0 : newline + 1);
  return fmt::format("{}:{}", 1 + std::count(before.begin(), before.end(), '\n'), column);
}

Json number_json(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double number_from(const Json& json) {
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  return json.get<double>();
}

void to_json(Json& json, const Value& value) {
  if (value.name.empty()) {
    json = value.number;
  } else {
    json = Json{{"name", value.name}, {"number", value.number}};
  }
}

void from_json(const Json& json, Value& value) {
  if (json.is_object()) {
    const JsonReader<false> read{json};
    read("name", value.name);
    read("number", value.number);
  } else {
    value = Value{json.get<std::int64_t>(), ""};
  }
}

void to_json(Json& json, const Variant& value) { json = value_json(value.values, true); }

void from_json(const Json& json, Variant& value) {
  value.values.clear();
  if (!json.is_null()) read_value(json, "variant", value.values, true);
}

}  // namespace ktune::model
