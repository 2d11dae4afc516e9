#include "space/tuples.h"

#include <algorithm>

namespace ktune::space {

Tuples::Tuples(const std::vector<Axis>& axes) : strides_(axes.size(), 1) {
  // An axis without values leaves no choice at all, and must not make the strides 0.
  for (std::size_t d = axes.size(); d-- > 1;)
    strides_[d - 1] = strides_[d] * std::max<std::size_t>(1, axes[d].values.size());
}

std::uint64_t Tuples::pack(const Choice& choice) const {
  std::uint64_t packed = 0;
  for (std::size_t d = 0; d < strides_.size(); ++d) packed += choice[d] * strides_[d];
  return packed;
}

Choice Tuples::at(std::int64_t index) const {
  Choice choice(strides_.size());
  std::uint64_t rest = packed_[static_cast<std::size_t>(index)];
  for (std::size_t d = 0; d < strides_.size(); ++d) {
    choice[d] = rest / strides_[d];
    rest %= strides_[d];
  }
  return choice;
}

std::optional<std::int64_t> Tuples::find(const Choice& choice) const {
  const std::uint64_t packed = pack(choice);
  const auto at = std::lower_bound(packed_.begin(), packed_.end(), packed);
  if (at == packed_.end() || *at != packed) return std::nullopt;
  return at - packed_.begin();
}

}  // namespace ktune::space
