#include "report/json.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "report/metric.h"

namespace ktune::report {

using model::Json;

namespace {

constexpr std::string_view kSchema = "ktune.report/1";
constexpr std::string_view kSchemaName = "ktune.report/";

[[noreturn]] void refuse(const std::string& message, const std::string& where, const std::string& hint = {}) {
  throw Error(ErrorKind::kUsage, message, hint, where);
}

void check_schema(const Json& json, const std::string& where) {
  const auto at = json.is_object() ? json.find("schema") : json.end();
  if (!json.is_object() || at == json.end() || !at->is_string())
    refuse("this is no report of ktune", where, "`ktune report --format json` writes one");
  const std::string schema = at->get<std::string>();
  if (schema == kSchema) return;
  if (schema.starts_with(kSchemaName))
    refuse(fmt::format("the report was written by a newer ktune (schema {}, this one reads {})", schema, kSchema),
           where, "use that ktune");
  refuse(fmt::format("this is no report of ktune: its schema is {}", schema), where,
         fmt::format("{} is wanted: `ktune report --format json` writes it", kSchema));
}

Row parse_row(const Json& json, std::size_t index, const std::string& where) {
  const auto name = [&] { return fmt::format("rows[{}]", index); };
  if (!json.is_object()) refuse(name() + " is not an object", where);
  Row row;
  for (const Metric& metric : metrics()) {
    const auto at = json.find(metric.key);
    if (at == json.end() && metric.later) continue;
    if (at == json.end()) refuse(fmt::format("{} has no {}", name(), metric.key), where);
    try {
      metric.set(*at, row);
    } catch (const Json::exception&) {
      refuse(fmt::format("{}.{} cannot be {}", name(), metric.key, at->dump()), where);
    }
  }
  return row;
}

}  // namespace

std::string print_json(const Report& report, int, bool) {
  // A row a line: a diff of two reports shows which problems changed.
  std::string out = fmt::format("{{\n  \"schema\": \"{}\",\n", kSchema);
  if (report.all) out += "  \"all\": true,\n";
  out += "  \"rows\": [";
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    Json json = Json::object();
    for (const Metric& metric : metrics()) json[std::string(metric.key)] = metric.get(report.rows[i]);
    out += fmt::format("{}\n    {}", i == 0 ? "" : ",", json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  out += report.rows.empty() ? "],\n" : "\n  ],\n";
  out += "  \"notes\": " + Json(report.notes).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n}\n";
  return out;
}

Report parse_report(const std::string& text, const std::string& where) {
  Json json;
  try {
    json = model::parse_json(text);
  } catch (const Json::parse_error& error) {
    refuse("this is not JSON", where + ":" + model::place_of(error, text), "`ktune report --format json` writes it");
  } catch (const Json::exception& error) {
    refuse(fmt::format("this is no report of ktune: {}", error.what()), where);
  }
  check_schema(json, where);
  const auto rows = json.find("rows");
  if (rows == json.end() || !rows->is_array()) refuse("the report has no rows", where);
  Report report;
  try {
    report.all = json.value("all", false);
    report.notes = json.value("notes", std::vector<std::string>());
  } catch (const Json::exception&) {
    refuse("the report's `all` or `notes` are not what this ktune writes", where);
  }
  for (std::size_t i = 0; i < rows->size(); ++i) report.rows.push_back(parse_row((*rows)[i], i, where));
  return report;
}

}  // namespace ktune::report
