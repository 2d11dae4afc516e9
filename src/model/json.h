#pragma once

#include "model/facts.h"
#include "model/json_fields.h"
#include "model/op_spec.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "model/record.h"
#include "model/timing.h"

// JSON of the model's values: the worker protocol and the store's JSON columns. `Json(value)` and `json.get<T>()` work.
// Unknown fields are ignored, missing ones keep their defaults; a field of the wrong type, or a name that is none of
// its enumeration's, throws nlohmann::json::exception.

namespace ktune::model {

/// Json::parse for text of unknown origin: nested deeper than 100 it is refused as the rest is, by a Json::exception,
/// since dump and comparisons recurse.
Json parse_json(const std::string& text);

/// "LINE:COLUMN" where text is no JSON.
std::string place_of(const Json::parse_error& error, const std::string& text);

/// A number, or an object of a name and its number.
void to_json(Json& json, const Value& value);
void from_json(const Json& json, Value& value);
/// One object of the parameters: their order is the spec's.
void to_json(Json& json, const Variant& value);
void from_json(const Json& json, Variant& value);

}  // namespace ktune::model
