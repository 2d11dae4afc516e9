// Two rules carry the whole file: a missing or null field keeps what the value had, and a double that JSON cannot say
// is null (NaN) or a string ("inf", "-inf"). Pairs that a spec orders are objects: ordered_json keeps their order.

#include "model/json.h"

#include <cmath>
#include <limits>

#include "model/json_fields.h"

namespace ktune::model {

Json parse_json(const std::string& text) {
  constexpr int kDeepest = 100;
  return Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepest) throw Json::other_error::create(501, "nested too deeply", nullptr);
    return true;
  });
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

namespace {

template <typename Enum>
void read_name(const Json& json, const char* name, std::optional<Enum> (*parse)(std::string_view), Enum& value) {
  const Json* field = find(json, name);
  if (field == nullptr) return;
  auto text = field->get<std::string>();
  std::optional<Enum> parsed = parse(text);
  if (!parsed) throw Json::other_error::create(501, std::string(name) + ": unknown name '" + text + "'", field);
  value = *parsed;
}

template <typename T>
Json object_of(const std::vector<std::pair<std::string, T>>& pairs) {
  Json object = Json::object();
  for (const auto& [name, value] : pairs) object[name] = value;
  return object;
}

Json object_of(const std::vector<std::pair<std::string, double>>& pairs) {
  Json object = Json::object();
  for (const auto& [name, value] : pairs) object[name] = number_json(value);
  return object;
}

template <typename T>
void read_pairs(const Json& json, const char* name, std::vector<std::pair<std::string, T>>& pairs) {
  const Json* object = find(json, name);
  if (object == nullptr) return;
  pairs.clear();
  for (const auto& [key, value] : object->items()) {
    if constexpr (std::is_same_v<T, double>) {
      pairs.emplace_back(key, number_from(value));
    } else {
      pairs.emplace_back(key, value.template get<T>());
    }
  }
}

constexpr const char* kArgKinds[] = {"tensor", "scalar", "integer"};

std::optional<ArgPlan::Kind> parse_arg_kind(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kArgKinds); ++i) {
    if (name == kArgKinds[i]) return static_cast<ArgPlan::Kind>(i);
  }
  return std::nullopt;
}

}  // namespace

void to_json(Json& json, const Value& value) {
  if (value.name.empty()) {
    json = value.number;
  } else {
    json = Json{{"name", value.name}, {"number", value.number}};
  }
}

void from_json(const Json& json, Value& value) {
  if (json.is_object()) {
    read(json, "name", value.name);
    read(json, "number", value.number);
  } else {
    value = Value{json.get<std::int64_t>(), ""};
  }
}

void to_json(Json& json, const InitSpec& value) {
  json = Json{{"kind", name_of(value.kind)}, {"a", number_json(value.a)}, {"b", number_json(value.b)}};
}

void from_json(const Json& json, InitSpec& value) {
  read_name(json, "kind", parse_init_kind, value.kind);
  read(json, "a", value.a);
  read(json, "b", value.b);
}

void to_json(Json& json, const Problem& value) {
  json = Json{{"op", value.op},
              {"dims", object_of(value.dims)},
              {"types", object_of(value.types)},
              {"attrs", object_of(value.attrs)}};
  // Overrides are rare, and this text is stored with every problem.
  if (!value.strides.empty()) json["strides"] = object_of(value.strides);
  if (!value.offsets.empty()) json["offsets"] = object_of(value.offsets);
  if (!value.scalars.empty()) json["scalars"] = object_of(value.scalars);
  if (!value.inits.empty()) json["inits"] = object_of(value.inits);
  json["weight"] = number_json(value.weight);
}

void from_json(const Json& json, Problem& value) {
  read(json, "op", value.op);
  read_pairs(json, "dims", value.dims);
  read_pairs(json, "types", value.types);
  read_pairs(json, "attrs", value.attrs);
  read_pairs(json, "strides", value.strides);
  read_pairs(json, "offsets", value.offsets);
  read_pairs(json, "scalars", value.scalars);
  read_pairs(json, "inits", value.inits);
  read(json, "weight", value.weight);
}

void to_json(Json& json, const Variant& value) { json = object_of(value.values); }

void from_json(const Json& json, Variant& value) {
  value.values.clear();
  if (json.is_null()) return;
  for (const auto& [name, number] : json.items()) value.values.emplace_back(name, number.get<Value>());
}

void to_json(Json& json, const TensorPlan& value) {
  json = Json{{"name", value.name},
              {"role", name_of(value.role)},
              {"dtype", name_of(value.dtype)},
              {"shape", value.shape},
              {"strides", value.strides},
              {"offset", value.offset},
              {"storage", value.storage},
              {"init", value.init},
              {"rtol", number_json(value.tolerance.rtol)},
              {"atol", number_json(value.tolerance.atol)}};
}

void from_json(const Json& json, TensorPlan& value) {
  read(json, "name", value.name);
  read_name(json, "role", parse_role, value.role);
  read_name(json, "dtype", parse_dtype, value.dtype);
  read(json, "shape", value.shape);
  read(json, "strides", value.strides);
  read(json, "offset", value.offset);
  read(json, "storage", value.storage);
  read(json, "init", value.init);
  read(json, "rtol", value.tolerance.rtol);
  read(json, "atol", value.tolerance.atol);
}

void to_json(Json& json, const ArgPlan& value) {
  json = Json{{"kind", kArgKinds[static_cast<std::size_t>(value.kind)]}};
  switch (value.kind) {
    case ArgPlan::Kind::kTensor:
      json["tensor"] = value.tensor;
      break;
    case ArgPlan::Kind::kScalar:
      json["dtype"] = name_of(value.dtype);
      json["real"] = number_json(value.real);
      break;
    case ArgPlan::Kind::kInteger:
      json["integer"] = value.integer;
      break;
  }
}

void from_json(const Json& json, ArgPlan& value) {
  read_name(json, "kind", parse_arg_kind, value.kind);
  read(json, "tensor", value.tensor);
  read_name(json, "dtype", parse_dtype, value.dtype);
  read(json, "real", value.real);
  read(json, "integer", value.integer);
}

void to_json(Json& json, const LaunchPlan& value) {
  json = Json{{"kernel", value.kernel}, {"args", value.args},       {"grid", value.grid},
              {"block", value.block},   {"cluster", value.cluster}, {"smem_bytes", value.smem_bytes},
              {"pdl", value.pdl}};
}

void from_json(const Json& json, LaunchPlan& value) {
  read(json, "kernel", value.kernel);
  read(json, "args", value.args);
  read(json, "grid", value.grid);
  read(json, "block", value.block);
  read(json, "cluster", value.cluster);
  read(json, "smem_bytes", value.smem_bytes);
  read(json, "pdl", value.pdl);
}

void to_json(Json& json, const ProblemPlan& value) {
  json = Json{{"op", value.op},
              {"problem", value.problem},
              {"tensors", value.tensors},
              {"reference", value.reference},
              {"reference_scratch", value.reference_scratch},
              {"seed", value.seed}};
}

void from_json(const Json& json, ProblemPlan& value) {
  read(json, "op", value.op);
  read(json, "problem", value.problem);
  read(json, "tensors", value.tensors);
  read(json, "reference", value.reference);
  read(json, "reference_scratch", value.reference_scratch);
  read(json, "seed", value.seed);
}

void to_json(Json& json, const VariantPlan& value) {
  json = Json{{"variant", value.variant}, {"scratch", value.scratch}, {"launches", value.launches}};
}

void from_json(const Json& json, VariantPlan& value) {
  read(json, "variant", value.variant);
  read(json, "scratch", value.scratch);
  read(json, "launches", value.launches);
}

void to_json(Json& json, const Cost& value) {
  json = Json{{"bytes_read", value.bytes_read},
              {"bytes_written", value.bytes_written},
              {"scratch_bytes", value.scratch_bytes},
              {"flops", value.flops},
              {"launches", value.launches}};
}

void from_json(const Json& json, Cost& value) {
  read(json, "bytes_read", value.bytes_read);
  read(json, "bytes_written", value.bytes_written);
  read(json, "scratch_bytes", value.scratch_bytes);
  read(json, "flops", value.flops);
  read(json, "launches", value.launches);
}

void to_json(Json& json, const Failure& value) {
  json = Json{{"outcome", name_of(value.outcome)}, {"reason", value.reason}, {"detail", value.detail}};
  if (value.transient) json["transient"] = true;
}

void from_json(const Json& json, Failure& value) {
  read_name(json, "outcome", parse_outcome, value.outcome);
  read(json, "reason", value.reason);
  read(json, "detail", value.detail);
  read(json, "transient", value.transient);
}

void to_json(Json& json, const KernelResources& value) {
  json = Json{{"registers", value.registers},
              {"shared_bytes", value.shared_bytes},
              {"local_bytes", value.local_bytes},
              {"spill_store_bytes", value.spill_store_bytes},
              {"spill_load_bytes", value.spill_load_bytes}};
}

void from_json(const Json& json, KernelResources& value) {
  read(json, "registers", value.registers);
  read(json, "shared_bytes", value.shared_bytes);
  read(json, "local_bytes", value.local_bytes);
  read(json, "spill_store_bytes", value.spill_store_bytes);
  read(json, "spill_load_bytes", value.spill_load_bytes);
}

void to_json(Json& json, const KernelBinary& value) {
  json = Json{{"path", value.path},
              {"key", value.key},
              {"target", value.target},
              {"resources", value.resources},
              {"log", value.log},
              {"cached", value.cached},
              {"compile_ms", number_json(value.compile_ms)}};
}

void from_json(const Json& json, KernelBinary& value) {
  read(json, "path", value.path);
  read(json, "key", value.key);
  read(json, "target", value.target);
  read(json, "resources", value.resources);
  read(json, "log", value.log);
  read(json, "cached", value.cached);
  read(json, "compile_ms", value.compile_ms);
}

}  // namespace ktune::model
