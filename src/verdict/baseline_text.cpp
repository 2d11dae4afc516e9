// The checksum covers the content, not the bytes: white space and line ends may change on the way through version
// control, figures may not. It guards against a hand that lifts a limit quietly and against a bad merge, not against
// someone who computes it anew.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "model/json_fields.h"
#include "verdict/baseline.h"

namespace ktune::verdict {

namespace {

using model::Json;

constexpr std::array<std::pair<SpecRoot, std::string_view>, 3> kRoots{
    {{SpecRoot::kKtune, "ktune"}, {SpecRoot::kRepository, "repository"}, {SpecRoot::kFolder, "folder"}}};

[[noreturn]] void refuse(const std::string& where, const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::kUsage, fmt::format("{}: {}", where, what), hint);
}

constexpr const char* kRestore =
    "restore the file from version control, or make a new one with `ktune baseline save --force`";

/// Figures to seven digits: more are noise, and lines stay readable.
Json figure(double value) {
  if (!std::isfinite(value) || value == 0.0) return model::number_json(value);
  const double scale = std::pow(10.0, 6.0 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

Json json_of(const BaselineKey& key) {
  return Json{{"device", key.device},
              {"sm_count", key.sm_count},
              {"l2_bytes", key.l2_bytes},
              {"bus_bits", key.bus_bits},
              {"ecc", key.ecc},
              {"mig", key.mig},
              {"power_limit_w", model::number_json(key.power_limit_w)},
              {"driver", key.driver},
              {"toolkit", key.toolkit},
              {"cache_state", key.cache_state},
              {"protocol", key.protocol}};
}

BaselineKey key_from(const Json& json) {
  BaselineKey key;
  json.at("device").get_to(key.device);
  json.at("sm_count").get_to(key.sm_count);
  json.at("l2_bytes").get_to(key.l2_bytes);
  json.at("bus_bits").get_to(key.bus_bits);
  json.at("ecc").get_to(key.ecc);
  json.at("mig").get_to(key.mig);
  key.power_limit_w = model::number_from(json.at("power_limit_w"));
  json.at("driver").get_to(key.driver);
  json.at("toolkit").get_to(key.toolkit);
  json.at("cache_state").get_to(key.cache_state);
  json.at("protocol").get_to(key.protocol);
  return key;
}

Json json_of(const Session& session) {
  return Json{{"date", session.date},
              {"commit", session.commit},
              {"ratio", figure(session.ratio)},
              {"kernel_us", figure(session.kernel_us)},
              {"control_us", figure(session.control_us)},
              {"process_sd_pct", figure(session.process_sd_pct)},
              {"processes", session.processes}};
}

Session session_from(const Json& json) {
  Session session;
  json.at("date").get_to(session.date);
  json.at("commit").get_to(session.commit);
  session.ratio = model::number_from(json.at("ratio"));
  session.kernel_us = model::number_from(json.at("kernel_us"));
  session.control_us = model::number_from(json.at("control_us"));
  session.process_sd_pct = model::number_from(json.at("process_sd_pct"));
  json.at("processes").get_to(session.processes);
  return session;
}

Json json_of(const Control& control) {
  return Json{{"problem", control.problem}, {"variant", control.variant}, {"code_hash", control.code_hash}};
}

Json json_of(const BaselineKernel& kernel) {
  Json history = Json::array();
  for (const Session& session : kernel.history) history.push_back(json_of(session));
  return Json{{"op", kernel.op},
              {"problem", kernel.problem},
              {"variant", kernel.variant},
              {"root", name_of(kernel.root)},
              {"spec", kernel.spec},
              {"source", kernel.source},
              {"timer", kernel.timer},
              {"code_hash", kernel.code_hash},
              {"control", json_of(kernel.control)},
              {"history", history}};
}

SpecRoot root_from(const std::string& name, const std::string& where) {
  for (const auto& [root, text] : kRoots)
    if (text == name) return root;
  refuse(where, fmt::format("unknown root '{}' of a spec", name), kRestore);
}

BaselineKernel kernel_from(const Json& json, const std::string& where) {
  BaselineKernel kernel;
  json.at("op").get_to(kernel.op);
  json.at("problem").get_to(kernel.problem);
  json.at("variant").get_to(kernel.variant);
  kernel.root = root_from(json.at("root").get<std::string>(), where);
  json.at("spec").get_to(kernel.spec);
  json.at("source").get_to(kernel.source);
  json.at("timer").get_to(kernel.timer);
  json.at("code_hash").get_to(kernel.code_hash);
  const Json& control = json.at("control");
  control.at("problem").get_to(kernel.control.problem);
  control.at("variant").get_to(kernel.control.variant);
  control.at("code_hash").get_to(kernel.control.code_hash);
  for (const Json& session : json.at("history")) kernel.history.push_back(session_from(session));
  return kernel;
}

Json json_of(const Baseline& baseline) {
  Json kernels = Json::array();
  for (const BaselineKernel& kernel : baseline.kernels) kernels.push_back(json_of(kernel));
  return Json{{"schema", kBaselineSchema}, {"key", json_of(baseline.key)}, {"kernels", kernels}};
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

std::string_view name_of(SpecRoot root) { return kRoots[static_cast<std::size_t>(root)].second; }

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
    baseline.key = key_from(json.at("key"));
    for (const Json& kernel : json.at("kernels")) baseline.kernels.push_back(kernel_from(kernel, where));
  } catch (const Json::exception& error) {
    refuse(where, fmt::format("a field is missing or of the wrong kind: {}", error.what()), kRestore);
  }
  check_baseline(baseline, where);
  return baseline;
}

}  // namespace ktune::verdict
