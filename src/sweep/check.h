#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sweep/sweep.h"

namespace ktune::sweep {

/// What verification said of one variant on one problem.
struct CheckResult {
  SharedProblem prepared;
  model::Variant variant;
  bool is_default = false;
  model::Outcome outcome = model::Outcome::kMeasured;  ///< kMeasured: right (nothing was timed)
  std::string reason;
  std::string detail;
  double margin = 0.0;
};

/// Which variants to check. kSome: the default and, for every value of every enumerated (named) parameter, the first
/// variant that has it: one of each path.
enum class CheckScope { kDefault, kSome, kAll };

std::vector<std::int64_t> variants_to_check(const PreparedProblem& prepared, CheckScope scope);

/// Compiles and verifies, without timing. Each result is passed to `each` as it comes.
void check(const std::vector<SharedProblem>& problems, const model::DeviceFacts& facts, const Options& options,
           CheckScope scope, const std::function<void(const CheckResult&)>& each);

/// Compiles only, for the facts' target, whatever device is here (registers and spills come from the compiler). Each
/// result's `detail` is the compiler's log, `resources` below are per kernel.
struct CompileCheck {
  SharedProblem prepared;
  model::Variant variant;
  bool is_default = false;
  model::Result<model::KernelBinary> binary;
};
void compile_only(const std::vector<SharedProblem>& problems, const model::DeviceFacts& facts, const Options& options,
                  const std::function<std::vector<std::int64_t>(const PreparedProblem&)>& pick,
                  const std::function<void(const CompileCheck&)>& each);

}  // namespace ktune::sweep
