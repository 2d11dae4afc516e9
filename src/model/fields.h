#pragma once

// Each plain struct names its fields once, in a static member `fields(self, field)` that calls field(name, member) for
// one after the other. What walks them decides what a field becomes: JSON both ways (model/json_fields.h), the columns
// of a row both ways (store/rows.h), a line of a result. A struct whose JSON is not its fields (a Value is a number or
// an object) has a to_json and a from_json of its own.

namespace ktune::model {

/// How a field departs from the rest.
struct FieldRule {
  bool may_miss = false;   ///< JSON of a strict struct: an older writer left it out
  bool if_set = false;     ///< JSON: written only where it is not empty or false
  bool as_object = false;  ///< JSON: pairs are one object in their order; else a list of lists
  int since = 0;           ///< database: the first schema that has its column
};

/// Walks nothing.
struct NoVisit {
  void operator()(const char*, const auto&, FieldRule = {}) const {}
};

template <typename T>
concept HasFields = requires(T& value) { T::fields(value, NoVisit()); };

/// JSON that lacks a field, or has null for one that is no double, is refused; elsewhere the field keeps what it had.
template <typename T>
concept StrictFields = HasFields<T> && T::kStrict;

}  // namespace ktune::model
