#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "space/axis.h"

namespace ktune::space {

/// Choices, packed into 64 bits each: a number whose digits are the indices, the first axis the most significant.
class Tuples {
 public:
  Tuples() = default;
  /// The values of the axes must have no more than 2^63 combinations.
  explicit Tuples(const std::vector<Axis>& axes);

  std::int64_t size() const { return static_cast<std::int64_t>(packed_.size()); }

  /// Choices must come in ascending order, as a depth-first walk meets them.
  void push(const Choice& choice) { packed_.push_back(pack(choice)); }
  Choice at(std::int64_t index) const;
  /// The index of a choice, by binary search.
  std::optional<std::int64_t> find(const Choice& choice) const;

 private:
  std::uint64_t pack(const Choice& choice) const;

  std::vector<std::uint64_t> strides_;  ///< by axis
  std::vector<std::uint64_t> packed_;
};

}  // namespace ktune::space
