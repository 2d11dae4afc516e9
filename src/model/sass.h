#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ktune::model {

/// The instructions of one kernel's machine code, counted in its text: a loop's body counts once, whatever it is run.
/// Padding (NOP) and what never executes (@!PT) are left out.
struct SassCounts {
  std::int64_t instructions = 0;
  /// By class: global, shared, local, constant, atomic, tensor, float, integer, control, other.
  std::map<std::string, std::int64_t> classes;
  /// Memory instructions by kind (LDG, STG, LDGSTS, LDS, STS; generic LD and ST count as LDG and STG) and bits.
  std::map<std::string, std::map<int, std::int64_t>> widths;

  friend bool operator==(const SassCounts&, const SassCounts&) = default;
};

}  // namespace ktune::model
