#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "expr/expr.h"
#include "model/facts.h"
#include "model/op_spec.h"
#include "model/plan.h"
#include "model/provenance.h"
#include "model/record.h"
#include "model/timing.h"
#include "space/space.h"
#include "store/store.h"

namespace ktune::sweep {

/// An op and the problems to tune it on.
struct Work {
  std::shared_ptr<const model::OpSpec> spec;  ///< narrowed as the command line asked
  std::shared_ptr<const model::OpSpec> full;  ///< as its file says: the default comes from it and is always measured
  std::vector<model::Problem> problems;
};

struct Options {
  std::string device;  ///< as device::open_device takes it
  std::string strategy = "exhaustive";
  int jobs = 0;           ///< compile processes, 0: one a core
  double budget_s = 0.0;  ///< wall clock of the whole sweep, 0: no limit
  double compile_deadline_s = 60.0;
  double trial_deadline_s = 30.0;
  std::uint64_t seed = 0x6b74756e65ULL;
  model::CacheState cache_state = model::CacheState::kCold;
  model::TimerRequest timer;
  double trial_ms = 15.0;  ///< sampling time of one trial
  int finalists = 8;       ///< re-timed interleaved with the default
  bool reuse = true;
  bool race = true;      ///< stop sampling a variant that is clearly out, or known well enough
  bool explain = false;  ///< say why a trial was not re-used
  model::Provenance provenance;
};

/// One problem with everything the loop needs; made before anything is compiled or measured, so that a mistake in
/// the last problem ends the command before the first is swept.
struct PreparedProblem {
  std::shared_ptr<const model::OpSpec> spec, full;  ///< as in the Work it was made from
  model::Problem problem;
  model::DeviceFacts device;
  expr::Scope scope;
  space::Space space;
  model::Variant default_variant;
  std::int64_t default_id = 0;  ///< its number in the space
  model::ProblemPlan plan;
  model::Cost cost;
};
/// "rmsnorm M=4096 N=4096 bf16"; the op alone where a problem has neither sizes nor a dtype.
std::string name_of(const PreparedProblem& prepared);
/// What refers to a prepared problem owns it too.
using SharedProblem = std::shared_ptr<const PreparedProblem>;

/// Resolves every problem of every work item. `until_s` (as base's now_s(); 0: no end): enumerating stops then, and
/// what was not enumerated is counted (Space::not_enumerated); the default is in each space all the same. Throws
/// Error(kUsage): an empty space, a default that breaks a constraint or a limit of the device, sizes that do not fit;
/// Error(kInterrupted) after Ctrl-C.
std::vector<SharedProblem> prepare(const std::vector<Work>& work, const model::DeviceFacts& facts, std::uint64_t seed,
                                   double until_s = 0.0);

/// When enumerating for a sweep that begins now stops: half of the budget is left to measure with. 0: never.
double enumeration_end(double budget_s);

/// The same for one problem of which no variant but those the caller names will be run: its space is left empty.
SharedProblem prepare_unswept(const Work& work, const model::Problem& problem, const model::DeviceFacts& facts,
                              std::uint64_t seed);

/// Why a variant may not run: the constraint or the limit of the device that it breaks, or the expression of a launch
/// without a value that fits. Nothing when it may.
std::optional<std::string> why_absent(const PreparedProblem& prepared, const model::Variant& variant);

/// How a problem stands, for the progress line and the plan.
struct ProblemStatus {
  std::size_t index = 0, count = 0;  ///< which problem of how many
  std::string op, problem;
  std::map<model::Outcome, std::int64_t> outcomes;
  std::int64_t done = 0, total = 0;  ///< variants
  std::int64_t reused = 0;
  double best_us = 0.0;  ///< 0: none yet
  double elapsed_s = 0.0;
  bool finals = false;
  std::string timer;  ///< what `auto` decided; "" before it did, and where a timer was named
};

/// What the caller wants to hear. Every function may be empty.
struct Observer {
  std::function<void(const ProblemStatus&)> progress;
  std::function<void(const std::string&)> message;  ///< one line for the user
  std::function<void()> opened{};                   ///< the database is open, nothing has run
};

struct Summary {
  std::int64_t session = 0;
  std::int64_t trials = 0;  ///< trials run in this session (not re-used)
  std::int64_t reused = 0;
  double seconds = 0.0;
  bool interrupted = false;
  bool out_of_budget = false;
  std::int64_t not_visited = 0;
  std::vector<std::string> failed_problems;  ///< "rmsnorm M=… : reason": the reference did not compile or run
};

/// Sweeps every problem, storing each trial as it ends.
Summary run(const std::vector<SharedProblem>& problems, const model::DeviceFacts& facts, store::Store& store,
            const Options& options, const Observer& observer);
/// The same with a database of this path, which is made where there is none.
Summary run(const std::vector<SharedProblem>& problems, const model::DeviceFacts& facts, const std::string& database,
            const Options& options, const Observer& observer);

/// How many variants of a problem are already in the store with nothing changed (for --dry-run).
std::int64_t count_reusable(const PreparedProblem& prepared, const model::DeviceFacts& facts, store::Store& store,
                            const Options& options);

/// One variant for all problems of a key.
struct KeyChoice {
  std::string op;
  std::string key;  ///< "N=4096 bf16"
  model::Variant variant;
  double mean_regret_pct = 0.0;  ///< weighted geometric mean of time / best time, minus 1
  double worst_regret_pct = 0.0;
  std::string worst_problem;
  std::size_t problems = 0;
};

/// Chooses from what the session measured: among the variants measured on every problem of a key, the one with the
/// least weighted geometric mean of time/best.
std::vector<KeyChoice> choose_per_key(const std::vector<SharedProblem>& problems, const model::Dataset& dataset);

}  // namespace ktune::sweep
