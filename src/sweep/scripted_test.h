#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sweep/context.h"
#include "sweep/loop.h"

// A sweep without processes, devices, a database or a clock: its bench and its compiler follow a script, and a verb
// takes as long as the script says. The op has one parameter, P: the variant with P = n has the number n.

namespace ktune::sweep {

/// What one variant does.
struct Script {
  double time_us = 20.0;
  double spread = 0.0005;  ///< of the samples, to either side of time_us
  std::string fails_at;    ///< "compile", "load", "verify", "measure", or the verb and its number: "measure 3"
  model::Outcome outcome = model::Outcome::kCrashed;
  bool transient = false;
  bool throttled = false;
  double compile_s = 0.01;
  bool hangs_compiler = false;
};

/// What everything scripted shares.
struct Stage {
  double now_s = 1000.0;
  bool interrupted = false;
  std::map<std::int64_t, Script> variants;
  Script reference;  ///< fails_at: "compile" or "problem"
  double problem_s = 0.01, load_s = 0.001, call_s = 0.0005, sample_us = 100.0;
  std::vector<std::string> verbs;                     ///< "load 3", in the order they came
  std::function<void(const std::string& verb)> each;  ///< called with every verb before it runs

  void begin(const std::string& verb) {
    verbs.push_back(verb);
    if (each) each(verb);
  }
  std::int64_t count(const std::string& verb) const { return std::count(verbs.begin(), verbs.end(), verb); }
};

class ScriptedCompiler : public compile::Compiler {
 public:
  explicit ScriptedCompiler(Stage& stage) : stage_(stage) {}

  std::int64_t submit(compile::CompileJob job) override {
    queue_.emplace_back(++last_ticket_, std::move(job));
    return last_ticket_;
  }
  /// Last in, first out: whoever relies on the order of results must see to it.
  std::optional<compile::CompileResult> wait(double timeout_s) override {
    for (std::size_t i = queue_.size(); i-- > 0;) {
      const auto [ticket, job] = queue_[i];
      const Script& script = script_of(job);
      if (script.hangs_compiler) continue;
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
      stage_.now_s += script.compile_s;
      if (script.fails_at == "compile") return {{ticket, model::fail(script.outcome, "does not compile", "log")}};
      model::KernelBinary binary;
      binary.key = "binary";
      return {{ticket, binary}};
    }
    stage_.now_s += timeout_s;
    stage_.begin("wait");
    return std::nullopt;
  }
  int jobs() const override { return 2; }

 private:
  const Script& script_of(const compile::CompileJob& job) const {
    std::int64_t variant = 0;
    for (const auto& [name, value] : job.macros) {
      if (name == "KTUNE_REFERENCE") return stage_.reference;
      if (name == "P") variant = std::stoll(value);
    }
    return stage_.variants[variant];
  }

  Stage& stage_;
  std::deque<std::pair<std::int64_t, compile::CompileJob>> queue_;
  std::int64_t last_ticket_ = 0;
};

class ScriptedBench : public trial::Bench {
 public:
  explicit ScriptedBench(Stage& stage) : stage_(stage) {}

  model::Status set_problem(const model::ProblemPlan& /*plan*/, const model::KernelBinary& /*reference*/) override {
    stage_.begin("problem");
    stage_.now_s += stage_.problem_s;
    loaded_.clear();
    if (stage_.reference.fails_at == "problem") return model::fail(stage_.reference.outcome, "dies", "stack");
    return {};
  }
  model::Status load(std::int64_t variant, const model::VariantPlan& /*plan*/,
                     const model::KernelBinary& /*binary*/) override {
    stage_.now_s += stage_.load_s;
    if (auto failure = begin("load", variant)) return tl::unexpected(*failure);
    loaded_.insert(variant);
    return {};
  }
  model::Result<verify::Verification> verify(std::int64_t variant) override {
    EXPECT_TRUE(loaded_.contains(variant)) << "verify of a variant that is not loaded: " << variant;
    if (auto failure = begin("verify", variant)) {
      if (failure->outcome != model::Outcome::kWrongResult) return tl::unexpected(*failure);
      verify::Verification report;
      report.reason = failure->reason;
      return report;
    }
    verified_.insert(variant);
    verify::Verification report;
    report.ok = true;
    return report;
  }
  model::Result<measure::Measurement> measure(std::int64_t variant, const measure::Request& request) override {
    EXPECT_TRUE(verified_.contains(variant) && loaded_.contains(variant)) << "timed without a check: " << variant;
    stage_.now_s += stage_.call_s + 1e-6 * stage_.sample_us * request.samples;
    if (auto failure = begin("measure", variant)) return tl::unexpected(*failure);
    const std::string timer(name_of(request.timer));
    if (missing_timers.contains(timer)) return model::fail(model::Outcome::kRejected, "no such timer");
    timers[variant].insert(timer);
    const Script& script = stage_.variants[variant];
    measure::Measurement report;
    report.samples.timer = request.timer.named.value_or(model::Timer::kScript);
    report.samples.cache_state = request.cache_state;
    for (int i = 0; i < request.samples; ++i)
      report.samples.time_us.push_back(script.time_us * (1.0 + script.spread * (i % 3 - 1)));
    report.cost_us = stage_.sample_us;
    if (script.throttled) report.after.throttle_bits = 4;
    return report;
  }
  void unload(std::int64_t variant) override { loaded_.erase(variant); }
  bool is_loaded(std::int64_t variant) const override { return loaded_.contains(variant); }

  std::set<std::string> missing_timers;
  std::map<std::int64_t, std::set<std::string>> timers;  ///< that each variant was timed by
  std::size_t loaded() const { return loaded_.size(); }

 private:
  /// A failure that takes the process down takes every loaded variant with it.
  std::optional<model::Failure> begin(const std::string& verb, std::int64_t variant) {
    const Script& script = stage_.variants[variant];
    stage_.begin(verb + " " + std::to_string(variant));
    const std::string numbered = verb + " " + std::to_string(++calls_[{verb, variant}]);
    if (script.fails_at != verb && script.fails_at != numbered) return std::nullopt;
    loaded_.erase(variant);
    if (script.outcome == model::Outcome::kCrashed || script.outcome == model::Outcome::kTimedOut) {
      loaded_.clear();
      verified_.clear();
    }
    return model::Failure{script.outcome, "fails at " + script.fails_at, "", script.transient};
  }

  Stage& stage_;
  std::set<std::int64_t> loaded_, verified_;
  std::map<std::pair<std::string, std::int64_t>, int> calls_;
};

class MemoryLedger : public Ledger {
 public:
  std::int64_t add_problem(const model::ProblemRecord& record, const model::OpSpec& /*full*/) override {
    problems.push_back(record);
    problems.back().id = static_cast<std::int64_t>(problems.size());
    return problems.back().id;
  }
  void update_problem(const model::ProblemRecord& record) override { problem(record.id) = record; }
  void add_trial(const model::TrialRecord& trial) override {
    trials.push_back(trial);
    trials.back().id = static_cast<std::int64_t>(trials.size());
    links.emplace_back(trial.problem, trials.back().id);
  }
  void link_trial(std::int64_t problem, std::int64_t trial) override { links.emplace_back(problem, trial); }
  std::optional<model::TrialRecord> find_trial(const std::string& fingerprint) override {
    for (auto at = trials.rbegin(); at != trials.rend(); ++at)
      if (at->fingerprint == fingerprint && at->outcome != model::Outcome::kCrashed &&
          at->outcome != model::Outcome::kTimedOut && !at->transient)
        return *at;
    return std::nullopt;
  }
  std::optional<model::TrialRecord> nearest_trial(const std::string& /*op*/, const std::string& problem_text,
                                                  const std::string& variant_text) override {
    for (auto at = trials.rbegin(); at != trials.rend(); ++at)
      if (!at->is_final && at->problem_text == problem_text && at->variant.text() == variant_text) return *at;
    return std::nullopt;
  }
  std::optional<model::ProblemRecord> load_problem(std::int64_t id) override { return problem(id); }
  model::Variant previous_winner(const std::string& /*op*/, const std::string& problem_text,
                                 const std::string& /*device*/, std::int64_t session) override {
    for (auto at = problems.rbegin(); at != problems.rend(); ++at)
      if (at->session != session && at->problem.text() == problem_text && !at->winner.values.empty()) return at->winner;
    return {};
  }

  model::ProblemRecord& problem(std::int64_t id) { return problems.at(static_cast<std::size_t>(id) - 1); }

  std::vector<model::ProblemRecord> problems;
  std::vector<model::TrialRecord> trials;
  std::vector<std::pair<std::int64_t, std::int64_t>> links;  ///< problem, trial
};

/// Names the variants it was given, in that order.
class GivenOrder : public search::Strategy {
 public:
  using Told = std::vector<std::pair<search::VariantId, model::Outcome>>;

  explicit GivenOrder(std::vector<search::VariantId> order, Told* told = nullptr)
      : order_(order.begin(), order.end()), told_(told) {}
  std::optional<search::VariantId> next() override {
    if (order_.empty()) return std::nullopt;
    const search::VariantId id = order_.front();
    order_.pop_front();
    return id;
  }
  void tell(search::VariantId id, model::Outcome outcome, double /*time_us*/) override {
    if (told_ != nullptr) told_->emplace_back(id, outcome);
  }

 private:
  std::deque<search::VariantId> order_;
  Told* told_;
};

/// The variants 0 … count − 1 of an op with one parameter, and one value more that a constraint rejects.
inline Work scripted_work(std::int64_t count, std::int64_t default_id,
                          const std::vector<std::int64_t>& sizes = {1000}) {
  const auto expression = [](const std::string& text) { return model::Expression{text, {}}; };
  model::OpSpec spec;
  spec.name = "scale";
  spec.hash = "spec";
  spec.source_path = "scale.cu";
  spec.dims = {"N"};
  model::TensorSpec y;
  y.name = "y";
  y.role = model::Role::kOut;
  y.shape = {expression("N")};
  y.strides = {expression("1")};
  y.type = "f32";
  spec.tensors = {y};
  model::Parameter parameter;
  parameter.name = "P";
  for (std::int64_t value = 0; value <= count; ++value) parameter.values.push_back({value, ""});
  spec.params = {parameter};
  spec.constraints = {{expression("P < " + std::to_string(count)), "too many"}};
  spec.defaults = {{"P", expression(std::to_string(default_id))}};
  model::LaunchSpec launch;
  launch.kernel = "scale";
  launch.args = {expression("y"), expression("N")};
  launch.grid = {expression("1")};
  launch.block = {expression("128")};
  launch.smem = expression("0");
  spec.launches = {launch};
  spec.reference = {launch};
  spec.verify.reduction = expression("1");
  spec.cost = {expression("4"), expression("4"), expression("0"), expression("0")};
  const auto shared = std::make_shared<const model::OpSpec>(std::move(spec));
  Work work{shared, shared, {}};
  for (const std::int64_t size : sizes) {
    model::Problem problem;
    problem.op = "scale";
    problem.dims = {{"N", size}};
    work.problems.push_back(problem);
  }
  return work;
}

/// Sweeps of one op, one session after another over the same ledger.
class ScriptedSweep : public testing::Test {
 protected:
  ScriptedSweep() {
    facts_.kind = "cuda";
    facts_.name = "GPU";
    facts_.target = "sm_90";
    facts_.memory_bytes = 1 << 30;
    options_.timer = model::Timer::kEvents;
    observer_.message = [this](const std::string& text) { messages_.push_back(text); };
    set_up(6, 3);
  }
  /// Every test leaves the books balanced.
  ~ScriptedSweep() override { check_books(); }

  void set_up(std::int64_t variants, std::int64_t default_id, const std::vector<std::int64_t>& sizes = {1000}) {
    work_ = {scripted_work(variants, default_id, sizes)};
    prepared_ = prepare(work_, facts_, 1);
    for (std::int64_t id = 0; id < variants; ++id) stage_.variants[id].time_us = 20.0 + static_cast<double>(id);
  }

  template <typename Run>
  auto in_a_session(Run run) {
    stage_.verbs.clear();
    messages_.clear();
    ScriptedCompiler compiler(stage_);
    bench_ = std::make_unique<ScriptedBench>(stage_);
    bench_->missing_timers = missing_timers_;
    Budget budget(options_.budget_s, [this] { return stage_.now_s; });
    return run(Context{facts_, options_, observer_, ledger_, compiler, *bench_, budget,
                       [this](const compile::CompileJob&) { return source_; }, [this] { return stage_.interrupted; },
                       ++session_});
  }

  /// One session. Throws what the sweep throws.
  Summary sweep() {
    return in_a_session([this](const Context& context) { return sweep_problems(context, prepared_); });
  }
  /// One session of the first problem with a strategy of the test's own.
  ProblemResult explore(std::unique_ptr<search::Strategy> strategy) {
    return in_a_session([&](const Context& context) {
      model::ProblemRecord record = unvisited_record(*prepared_[0], session_);
      record.id = ledger_.add_problem(record, *prepared_[0]->full);
      return Exploration(context, *prepared_[0], record, {}, std::move(strategy)).run();
    });
  }

  /// The record of a problem of the last session.
  const model::ProblemRecord& record(std::size_t index = 0) const {
    return ledger_.problems.at(ledger_.problems.size() - prepared_.size() + index);
  }
  /// Trials that a problem counts, finals aside, by outcome.
  std::map<model::Outcome, std::int64_t> outcomes(const model::ProblemRecord& problem) const {
    std::map<model::Outcome, std::int64_t> counts;
    for (const auto& [linked, id] : ledger_.links)
      if (const auto& trial = ledger_.trials.at(static_cast<std::size_t>(id) - 1);
          linked == problem.id && !trial.is_final)
        ++counts[trial.outcome];
    return counts;
  }
  std::map<model::Outcome, std::int64_t> outcomes() const { return outcomes(record()); }
  /// The trial of a variant in the last session.
  const model::TrialRecord* trial_of(std::int64_t variant, bool is_final = false) const {
    for (const model::TrialRecord& trial : ledger_.trials)
      if (trial.session == session_ && trial.is_final == is_final && trial.variant.values[0].second.number == variant)
        return &trial;
    return nullptr;
  }
  std::int64_t winner(std::size_t index = 0) const {
    const model::Variant& winner = record(index).winner;
    return winner.values.empty() ? -1 : winner.values[0].second.number;
  }
  std::vector<std::int64_t> tie_set() const {
    std::vector<std::int64_t> tied;
    for (const model::Variant& variant : record().tie_set) tied.push_back(variant.values[0].second.number);
    return tied;
  }
  /// Variants in the order in which they were first loaded.
  std::vector<std::int64_t> loads() const {
    std::vector<std::int64_t> ids;
    for (const std::string& verb : stage_.verbs)
      if (verb.starts_with("load "))
        if (const std::int64_t id = std::stoll(verb.substr(5)); std::find(ids.begin(), ids.end(), id) == ids.end())
          ids.push_back(id);
    return ids;
  }

  /// rejected + measured + failed by kind + not visited = enumerated, and no trial counts twice.
  void check_books() const {
    for (const model::ProblemRecord& problem : ledger_.problems) {
      std::int64_t sum = problem.not_visited;
      for (const auto& [why, count] : problem.rejected) sum += count;
      for (const auto& [outcome, count] : outcomes(problem)) sum += count;
      EXPECT_EQ(sum, problem.enumerated) << "problem " << problem.id;
      EXPECT_GE(problem.not_visited, 0);
      std::set<std::pair<std::string, bool>> seen;
      for (const auto& [linked, id] : ledger_.links) {
        const model::TrialRecord& trial = ledger_.trials.at(static_cast<std::size_t>(id) - 1);
        if (linked != problem.id) continue;
        EXPECT_TRUE(seen.insert({trial.variant.text(), trial.is_final}).second)
            << trial.variant.text() << " is entered twice for problem " << problem.id;
      }
      if (problem.winner.values.empty()) continue;
      EXPECT_TRUE(seen.contains({problem.winner.text(), true})) << "a winner that was not confirmed";
    }
  }

  Stage stage_;
  model::DeviceFacts facts_;
  Options options_;
  Observer observer_;
  std::set<std::string> missing_timers_;
  std::string source_ = "source";
  std::vector<Work> work_;
  std::vector<SharedProblem> prepared_;
  MemoryLedger ledger_;
  std::unique_ptr<ScriptedBench> bench_;
  std::vector<std::string> messages_;
  std::int64_t session_ = 0;
};

}  // namespace ktune::sweep
