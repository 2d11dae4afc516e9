#pragma once

#include <nlohmann/json.hpp>

#include "model/facts.h"
#include "model/op_spec.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "model/record.h"
#include "model/timing.h"

// JSON of the model's values: the worker protocol and the store's JSON columns. Found by argument-dependent lookup,
// so `Json(value)` and `json.get<T>()` work. Unknown fields are ignored, missing ones keep their defaults; a field of
// the wrong type, or a name that is none of its enumeration's, throws nlohmann::json::exception.

namespace ktune::model {

using Json = nlohmann::ordered_json;

/// Json::parse for text of unknown origin: nested deeper than 100 it is refused as the rest is, by a Json::exception,
/// since dump and comparisons recurse.
Json parse_json(const std::string& text);

/// A double JSON can hold: NaN is null, infinities are "inf" and "-inf".
Json number_json(double value);
double number_from(const Json& json);

void to_json(Json& json, const Value& value);
void from_json(const Json& json, Value& value);
void to_json(Json& json, const InitSpec& value);
void from_json(const Json& json, InitSpec& value);
void to_json(Json& json, const Problem& value);
void from_json(const Json& json, Problem& value);
void to_json(Json& json, const Variant& value);
void from_json(const Json& json, Variant& value);
void to_json(Json& json, const TensorPlan& value);
void from_json(const Json& json, TensorPlan& value);
void to_json(Json& json, const ArgPlan& value);
void from_json(const Json& json, ArgPlan& value);
void to_json(Json& json, const LaunchPlan& value);
void from_json(const Json& json, LaunchPlan& value);
void to_json(Json& json, const ProblemPlan& value);
void from_json(const Json& json, ProblemPlan& value);
void to_json(Json& json, const VariantPlan& value);
void from_json(const Json& json, VariantPlan& value);
void to_json(Json& json, const Cost& value);
void from_json(const Json& json, Cost& value);
void to_json(Json& json, const Failure& value);
void from_json(const Json& json, Failure& value);
void to_json(Json& json, const KernelResources& value);
void from_json(const Json& json, KernelResources& value);
void to_json(Json& json, const KernelBinary& value);
void from_json(const Json& json, KernelBinary& value);
void to_json(Json& json, const DeviceFacts& value);
void from_json(const Json& json, DeviceFacts& value);
void to_json(Json& json, const MachineState& value);
void from_json(const Json& json, MachineState& value);
void to_json(Json& json, const TimingSummary& value);
void from_json(const Json& json, TimingSummary& value);

}  // namespace ktune::model
