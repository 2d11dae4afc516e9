#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/fields.h"
#include "model/timer.h"

// The JSON of every struct that names its fields: an object of them in their order. Enumerations are their names:
// name_of(value) and parse_as(value, name) are found by argument-dependent lookup.

namespace ktune::model {

using Json = nlohmann::ordered_json;

/// A double JSON can hold: NaN is null, infinities are "inf" and "-inf".
Json number_json(double value);
double number_from(const Json& json);

/// The enumerator of a name; throws Json::exception where there is none.
template <typename Enum>
Enum enum_from(const Json& json, const char* field) {
  const auto name = json.get<std::string>();
  const std::optional<Enum> parsed = parse_as(Enum{}, name);
  if (!parsed) throw Json::other_error::create(501, std::string(field) + ": unknown name '" + name + "'", &json);
  return *parsed;
}

inline void to_json(Json& json, const TimerRequest& request) { json = name_of(request); }
inline void from_json(const Json& json, TimerRequest& request) { request = timer_request_of(json.get<std::string>()); }

template <typename T>
struct IsPairs : std::false_type {};
template <typename T>
struct IsPairs<std::vector<std::pair<std::string, T>>> : std::true_type {};

/// Any field's value.
template <typename T>
Json value_json(const T& value, bool as_object = false) {
  if constexpr (std::is_same_v<T, double>) {
    return number_json(value);
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    Json list = Json::array();
    for (const double number : value) list.push_back(number_json(number));
    return list;
  } else if constexpr (std::is_enum_v<T>) {
    return name_of(value);
  } else {
    if constexpr (IsPairs<T>::value) {
      if (as_object) {
        Json object = Json::object();
        for (const auto& [name, item] : value) object[name] = value_json(item);
        return object;
      }
    }
    return value;
  }
}

/// The reverse, into a field of this name.
template <typename T>
void read_value(const Json& json, const char* name, T& value, bool as_object = false) {
  if constexpr (std::is_same_v<T, double>) {
    value = number_from(json);
  } else if constexpr (std::is_enum_v<T>) {
    value = enum_from<T>(json, name);
  } else {
    if constexpr (IsPairs<T>::value) {
      if (as_object) {
        value.clear();
        for (const auto& [key, item] : json.items()) {
          value.emplace_back(key, typename T::value_type::second_type{});
          read_value(item, key.c_str(), value.back().second);
        }
        return;
      }
    }
    json.get_to(value);
  }
}

struct JsonWriter {
  Json& json;

  template <typename T>
  void operator()(const char* name, const T& value, FieldRule rule = {}) const {
    if constexpr (std::is_same_v<T, bool>) {
      if (rule.if_set && !value) return;
    } else if constexpr (requires { value.empty(); }) {
      if (rule.if_set && value.empty()) return;
    }
    json[name] = value_json(value, rule.as_object);
  }
};

/// A null double is NaN. Anything else that is missing or null keeps what the value had, unless strict.
template <bool strict>
struct JsonReader {
  const Json& json;

  template <typename T>
  void operator()(const char* name, T& value, FieldRule rule = {}) const {
    const auto at = json.find(name);
    if (at == json.end()) {
      if (strict && !rule.may_miss) static_cast<void>(json.at(name));  // throws
    } else if (strict || std::is_same_v<T, double> || !at->is_null()) {
      read_value(*at, name, value, rule.as_object);
    }
  }
};

}  // namespace ktune::model

template <ktune::model::HasFields T>
struct nlohmann::adl_serializer<T> {
  static void to_json(ktune::model::Json& json, const T& value) {
    json = ktune::model::Json::object();
    T::fields(value, ktune::model::JsonWriter{json});
  }
  static void from_json(const ktune::model::Json& json, T& value) {
    T::fields(value, ktune::model::JsonReader<ktune::model::StrictFields<T>>{json});
  }
};
