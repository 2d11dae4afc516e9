#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "expr/expr.h"
#include "model/op_spec.h"
#include "space/axis.h"
#include "space/launches.h"
#include "space/tuples.h"

namespace ktune::space {

/// The valid variants of one problem, and an account of the rest: enumerated() is the sum of size(), of rejected() and
/// of not_enumerated().
/// A variant is its number from 0, in the parameters' order with the last axis fastest. It is kept as a tuple of
/// indices into the axes (8 bytes), and made when it is asked for.
class Space {
 public:
  Space() = default;
  /// What a walk counts.
  struct Account {
    std::int64_t enumerated = 0;
    std::map<std::string, std::int64_t> rejected;
    int fewest_launches = 0;
  };

  /// Of a walk: the valid choices in ascending order, and the account.
  Space(std::vector<Axis> axes, Tuples valid, Account account);

  std::int64_t size() const { return valid_.size() + static_cast<std::int64_t>(added_.size()); }
  bool empty() const { return size() == 0; }

  /// The variant of a number in [0, size()).
  model::Variant variant(std::int64_t id) const;
  /// The number of a variant; nothing when it is not in the space.
  std::optional<std::int64_t> find(const model::Variant& variant) const;
  /// The number of a variant that the space may lack (the default, where the parameters are narrowed): then it becomes
  /// the last one, and counts as enumerated.
  std::int64_t find_or_add(const model::Variant& variant);

  /// Points of the raw product.
  std::int64_t enumerated() const { return account_.enumerated; }
  /// Points by the `why` of the first constraint they break; kDuplicate for points that a `when` makes equal to
  /// another; the limit of the device that a launch breaks; "division by zero in '…'" where an expression has no value.
  const std::map<std::string, std::int64_t>& rejected() const { return account_.rejected; }
  /// The fewest launches that a variant of the walk needs; 0 where there is none, or no target was given.
  int fewest_launches() const { return account_.fewest_launches; }
  /// Points of which nothing is known, since the walk was stopped.
  std::int64_t not_enumerated() const;

 private:
  std::vector<Axis> axes_;
  Tuples valid_;
  std::vector<model::Variant> added_;
  Account account_;
};

inline constexpr const char* kDuplicate = "same variant as another (a parameter that does not apply there)";

struct Enumeration {
  std::optional<Target> target = std::nullopt;  ///< its device's limits are constraints; none: launches do not count
  std::function<bool()> stop = {};  ///< asked every few milliseconds; once it holds the walk ends, with what it has
};

/// Walks the space depth first; each constraint is applied as soon as its names are bound and a pruned subtree is
/// counted, not walked. A constraint or `when` without a value rejects like one that does not hold. The device's limits
/// are applied to what passes the constraints. `problem` is expr::problem_scope. Throws Error(kUsage) for expression
/// errors, and for more variants than can be kept.
Space enumerate(const model::OpSpec& spec, const expr::Scope& problem, const Enumeration& how = {});

/// Why a variant is not in the space: the constraint's expression and `why` with the values put in, or nothing when
/// it is valid.
std::optional<std::string> explain(const model::OpSpec& spec, const expr::Scope& problem,
                                   const model::Variant& variant);

}  // namespace ktune::space
