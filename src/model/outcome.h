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
std::optional<Outcome> parse_as(Outcome, std::string_view name);

/// Why a trial was not measured. `reason` is one line for tables and counts; `detail` is a log.
struct Failure {
  Outcome outcome = Outcome::kCrashed;
  std::string reason;
  std::string detail;
  bool transient =
      false;  ///< the machine's doing, not the variant's: memory that was short, a compiler that was killed

  static void fields(auto& self, auto&& field) {
    field("outcome", self.outcome);
    field("reason", self.reason);
    field("detail", self.detail);
    field("transient", self.transient, {.if_set = true});
  }
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

  static void fields(auto& self, auto&& field) {
    field("registers", self.registers);
    field("shared_bytes", self.shared_bytes);
    field("local_bytes", self.local_bytes);
    field("spill_store_bytes", self.spill_store_bytes);
    field("spill_load_bytes", self.spill_load_bytes);
  }
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

  static void fields(auto& self, auto&& field) {
    field("path", self.path);
    field("key", self.key);
    field("target", self.target);
    field("resources", self.resources);
    field("log", self.log);
    field("cached", self.cached);
    field("compile_ms", self.compile_ms);
  }
};

}  // namespace ktune::model
