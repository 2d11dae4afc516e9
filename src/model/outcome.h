#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace ktune::model {

/// What became of a trial.
enum class Outcome : std::uint8_t {
  kMeasured,
  kRejected,  ///< a constraint, or resources the device does not have: never launched
  kCompileFailed,
  kLaunchFailed,
  kWrongResult,
  kTimedOut,  ///< compile, launch or trial deadline
  kCrashed,   ///< the worker died
};

std::string_view name_of(Outcome outcome);  ///< "Measured", …
std::optional<Outcome> parse_outcome(std::string_view name);

/// Why a trial was not measured. `reason` is one line for tables and counts; `detail` is a log.
struct Failure {
  Outcome outcome = Outcome::kCrashed;
  std::string reason;
  std::string detail;
  bool transient =
      false;  ///< the machine's doing, not the variant's: memory that was short, a compiler that was killed
};

template <typename T>
using Result = tl::expected<T, Failure>;
using Status = tl::expected<void, Failure>;

inline tl::unexpected<Failure> fail(Outcome outcome, std::string reason, std::string detail = {}) {
  return tl::unexpected<Failure>(Failure{outcome, std::move(reason), std::move(detail)});
}

/// A failure that says nothing of the variant: another day it may well run.
inline tl::unexpected<Failure> fail_transient(Outcome outcome, std::string reason, std::string detail = {}) {
  return tl::unexpected<Failure>(Failure{outcome, std::move(reason), std::move(detail), true});
}

/// What the compiler says of one kernel entry; −1: not known.
struct KernelResources {
  int registers = -1;
  int shared_bytes = -1;  ///< static
  int local_bytes = -1;   ///< stack frame: > 0 hints at spills or indexed arrays
  int spill_store_bytes = -1;
  int spill_load_bytes = -1;
};

/// A compiled variant in the cache.
struct KernelBinary {
  std::string path;                                  ///< .cubin, .so or empty (fake)
  std::string key;                                   ///< XXH3-128 hex of everything the compile depends on
  std::string target;                                ///< "sm_90", "cpu", "cpu-sanitize", "fake"
  std::map<std::string, KernelResources> resources;  ///< by kernel entry
  std::string log;
  bool cached = false;
  double compile_ms = 0.0;  ///< 0 when cached
};

}  // namespace ktune::model
