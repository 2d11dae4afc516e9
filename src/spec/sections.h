#pragma once

#include "model/op_spec.h"
#include "spec/document.h"
#include "spec/naming.h"

// Each section of a spec, read into its part of an OpSpec. They are read in this order, each against the names of the
// earlier ones.

namespace ktune::spec {

void read_op(Fields& root, const Document& document, Names& names, model::OpSpec& spec);  // [op] [compile]
void read_types(Fields& root, Names& names, model::OpSpec& spec);                         // [types]
void read_attributes(Fields& root, Names& names, model::OpSpec& spec);                    // [[attr]]
void read_tensors(Fields& root, Names& names, model::OpSpec& spec);                       // [[tensor]]
void read_scalars(Fields& root, Names& names, model::OpSpec& spec);                       // [[scalar]]
void read_parameters(Fields& root, Names& names, model::OpSpec& spec);                    // [[param]]
void read_lets(Fields& root, Names& names, model::OpSpec& spec);                          // [let]
void read_constraints(Fields& root, model::OpSpec& spec);                                 // [[constraint]]
void read_defaults(Fields& root, model::OpSpec& spec);                                    // [default]
void read_launches(Fields& root, model::OpSpec& spec);                                    // [[launch]]
void read_reference(Fields& root, model::OpSpec& spec);                                   // [[reference.launch]]
void read_verify(Fields& root, model::OpSpec& spec);                                      // [verify]
void read_cost(Fields& root, model::OpSpec& spec);                                        // [cost]
void read_problems(Fields& root, model::OpSpec& spec);                                    // [[problem]]

/// "normal", "randint(0, 5)", …
model::InitSpec parse_init(const Text& text);

/// Checks that every expression parses and that the names it uses can be bound where it stands.
void check_expressions(const model::OpSpec& spec);

/// The names of a list of things that have one.
template <typename List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& thing : list) names.push_back(thing.name);
  return names;
}

/// The thing of that name, or null.
template <typename List>
const typename List::value_type* find_named(const List& list, const std::string& name) {
  for (const auto& thing : list) {
    if (thing.name == name) return &thing;
  }
  return nullptr;
}

}  // namespace ktune::spec
