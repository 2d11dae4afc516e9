#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
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
  std::string mix_up;  ///< "x and w swapped": what was done to its launches, and has to be found wrong
};

/// Which variants to check. kSome: the default and, for every value of every enumerated (named) parameter, the first
/// variant that has it: one of each path.
enum class CheckScope { kDefault, kSome, kAll, kMixUps };

std::vector<std::int64_t> variants_to_check(const PreparedProblem& prepared, CheckScope scope);

/// Compiles and verifies, without timing. Each result is passed to `each` as it comes. kMixUps: the default, and then
/// once for each pair of its operands of one dtype with the two swapped in its launches: kMeasured where that was found
/// wrong or crashed, kWrongResult where it passed.
void check(const std::vector<SharedProblem>& problems, const model::DeviceFacts& facts, const Options& options,
           CheckScope scope, const std::function<void(const CheckResult&)>& each);

/// How many results check() gives for a problem.
std::int64_t count_checks(const PreparedProblem& prepared, CheckScope scope);

/// The pairs of operands (not scratch) of one dtype that launches pass on.
std::vector<std::pair<std::string, std::string>> operand_pairs(const model::ProblemPlan& problem,
                                                               const std::vector<model::LaunchPlan>& launches);

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
