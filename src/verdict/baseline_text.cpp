// The checksum covers the content, not the bytes: white space and line ends may change on the way through version
// control, figures may not. It guards against a hand that lifts a limit quietly and against a bad merge, not against
// someone who computes it anew.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "base/hash.h"
#include "model/enum_names.h"
#include "model/json.h"
#include "verdict/baseline.h"

namespace ktune::verdict {

namespace {

using model::Json;

constexpr model::Names<SpecRoot, 3> kRoots{
    {{SpecRoot::kKtune, "ktune"}, {SpecRoot::kRepository, "repository"}, {SpecRoot::kFolder, "folder"}}};

[[noreturn]] void refuse(const std::string& where, const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::kUsage, fmt::format("{}: {}", where, what), hint);
}

constexpr const char* kRestore =
    "restore the file from version control, or make a new one with `ktune baseline save --force`";

double seven_digits(double value) {
  if (!std::isfinite(value) || value == 0.0) return value;
  const double scale = std::pow(10.0, 6.0 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

/// What the checksum covers. Figures have seven digits: more are noise, and lines stay readable.
Json json_of(Baseline baseline) {
  for (BaselineKernel& kernel : baseline.kernels)
    for (HistoryEntry& entry : kernel.history)
      HistoryEntry::fields(entry, [](const char*, auto& value) {
        if constexpr (std::is_same_v<decltype(value), double&>) value = seven_digits(value);
      });
  Json json{{"schema", kBaselineSchema}};
  json.update(Json(baseline));
  return json;
}

std::string checksum_of(Json content) {
  content.erase("checksum");
  return "xxh3-128:" + hash_hex(content.dump());
}

/// An object's fields a line each; an array of objects an element a line.
std::string pretty(const Json& object, const std::string& indent) {
  std::string text = "{\n";
  std::size_t left = object.size();
  for (const auto& [name, value] : object.items()) {
    text += fmt::format("{} {}: ", indent, Json(name).dump());
    if (name == "kernels") {
      text += "[\n";
      for (std::size_t i = 0; i < value.size(); ++i)
        text += fmt::format("{}  {}{}\n", indent, pretty(value[i], indent + "  "), i + 1 < value.size() ? "," : "");
      text += indent + " ]";
    } else if (name == "history") {
      text += "[\n";
      for (std::size_t i = 0; i < value.size(); ++i)
        text += fmt::format("{}  {}{}\n", indent, value[i].dump(), i + 1 < value.size() ? "," : "");
      text += indent + " ]";
    } else {
      text += name == "key" ? pretty(value, indent + " ") : value.dump();
    }
    text += --left > 0 ? ",\n" : "\n";
  }
  return text + indent + "}";
}

Json parse_json(std::string_view text, const std::string& where) {
  try {
    return model::parse_json(std::string(text));
  } catch (const Json::exception& error) {
    refuse(where, fmt::format("it is not a whole JSON file (truncated?): {}", error.what()), kRestore);
  }
}

void check_schema(const Json& json, const std::string& where) {
  const std::string schema = json.is_object() ? json.value("schema", std::string()) : std::string();
  if (schema == kBaselineSchema) return;
  if (schema.starts_with(kBaselineFamily))
    refuse(where, fmt::format("its schema is {}, this ktune reads {}", schema, kBaselineSchema),
           "it was made by another version of ktune: use that one");
  refuse(where, fmt::format("it is not a baseline (\"schema\" is \"{}\", not \"{}\")", schema, kBaselineSchema),
         "`ktune baseline save` makes one");
}

}  // namespace

std::string_view name_of(SpecRoot root) { return model::find_name(kRoots, root); }
std::optional<SpecRoot> parse_as(SpecRoot, std::string_view name) { return model::find_value(kRoots, name); }

std::string checksum_of(const Baseline& baseline) { return checksum_of(json_of(baseline)); }

std::string baseline_text(const Baseline& baseline) {
  const Json content = json_of(baseline);
  Json file{{"schema", content.at("schema")}, {"checksum", checksum_of(content)}};
  file.update(content);
  return pretty(file, "") + "\n";
}

Baseline parse_baseline(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, where);
  Baseline baseline;
  try {
    check_schema(json, where);
    if (json.value("checksum", std::string()) != checksum_of(json))
      refuse(where, "its checksum does not match its content: it was edited",
             "`ktune baseline accept` or `save` changes a baseline; restore the file from version control");
    for (const Json& kernel : json.at("kernels"))
      if (const auto root = kernel.at("root").get<std::string>(); !parse_as(SpecRoot{}, root))
        refuse(where, fmt::format("unknown root '{}' of a spec", root), kRestore);
    json.get_to(baseline);
  } catch (const Json::exception& error) {
    refuse(where, fmt::format("a field is missing or of the wrong kind: {}", error.what()), kRestore);
  }
  check_baseline(baseline, where);
  return baseline;
}

}  // namespace ktune::verdict
