#pragma once

#include <functional>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "space/rules.h"

// Parts of a space that need no enumeration: what lies beside a variant, and a variant by chance.

namespace ktune::space {

/// The neighbours of a variant along a parameter, all of them valid.
///
/// Where the values are numbers: the nearest smaller and the nearest larger one that give a valid variant, whatever
/// order the spec lists them in. Where they are names, which have no order: every other value that gives a valid one.
/// A parameter that no longer applies then gets its `otherwise`; one that applies now and did not before gets the first
/// of its values that fits; the rest stays as it is. None for a variant that is not in the space, for a parameter that
/// does not apply to it, and for an unknown name.
std::vector<model::Variant> neighbours(Rules& rules, const model::Variant& variant, std::string_view parameter);

/// A valid variant by chance, without enumerating: a descent that takes a random value of each parameter in turn and
/// goes back where it meets a rule. Nothing if there is none, or once `stop` holds.
///
/// Every valid variant can come out, but they are not equally likely: each value of the first parameter that leads
/// anywhere is, then each of the second behind it, and so on. So a variant with few others beside it comes out more
/// often than one among many. Where most points break a rule, a long search begins again from the first parameter: that
/// favours values with many variants behind them. The same generator gives the same variant everywhere.
std::optional<model::Variant> random_variant(Rules& rules, std::mt19937_64& random,
                                             const std::function<bool()>& stop = {});

}  // namespace ktune::space
