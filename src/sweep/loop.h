#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "measure/series.h"
#include "search/search.h"
#include "store/store.h"
#include "sweep/decide.h"
#include "sweep/race.h"
#include "sweep/sweep.h"
#include "trial/worker.h"

// One problem's way through strategy → compile → trial → store. Compiles run ahead in processes while the one worker
// measures: measured on a 16-core H200 host a compile takes about 100 ms and a trial 20, so sixteen processes keep one
// GPU busy.
//
// Up to sixteen verified variants are in the worker at once (the heat) and take blocks of samples in turn, so that a
// drift of the machine meets them alike. Each leaves the heat when race.h says so, and the next one comes in.

namespace ktune::sweep {

/// What all problems of a session share.
struct Context {
  const model::DeviceFacts& facts;
  store::Store& store;
  const Options& options;
  const Observer& observer;
  compile::CompilePool& pool;
  trial::Worker& worker;
  std::int64_t session = 0;
  double start_s = 0.0;

  bool out_of_budget() const;
  void say(const std::string& text) const;
};

/// A variant that was measured, ready to be timed again.
struct Candidate {
  search::VariantId id = 0;
  double time_us = 0.0;
  bool inconclusive = false;  ///< most of its samples are of a throttled device
  model::KernelBinary binary = {};
};

/// How variants and finalists are sampled on this device.
struct MeasurePolicy {
  RacePolicy race;
  int finalists = 8;
  int rounds = 10;           ///< of the finalists, to choose
  double round_us = 6000.0;  ///< sampling of one finalist in one round
  int round_least = 12;      ///< samples, whatever they cost
  int round_samples = 40;    ///< at most
  int last_blocks = 4;       ///< of winner and default, to report
  double last_us = 45000.0;  ///< sampling of each in all of them
  int last_samples = 1000;   ///< at most
};
MeasurePolicy measure_policy(const model::DeviceFacts& facts, const Options& options);

/// True where `auto` has a choice to make: elsewhere it is the first timer the device offers.
bool auto_decides(const model::DeviceFacts& facts, const Options& options);
/// The timer as a fingerprint names it: what `auto` decided on is told from what was asked for.
std::string timer_part(const model::DeviceFacts& facts, const Options& options, const model::TimerRequest& timer);
/// What `auto` decided for this problem when its default was last measured with nothing changed since.
std::optional<model::Timer> timer_decided_before(const PreparedProblem& prepared, const model::DeviceFacts& facts,
                                                 store::Store& store, const Options& options);
std::map<std::string, std::string> parts_of(const PreparedProblem& prepared, const model::DeviceFacts& facts,
                                            const Options& options, const model::TimerRequest& timer,
                                            const model::Variant& variant, const std::string& compile_key);

/// What a block on the multiprocessor holds while it runs, by the largest launch: registers and shared memory.
std::pair<std::int64_t, std::int64_t> resources_used(const model::VariantPlan& plan,
                                                     const std::map<std::string, model::KernelResources>& resources);

class Exploration {
 public:
  Exploration(Context& context, const PreparedProblem& prepared, std::size_t index, std::size_t count);

  /// Tries every variant the strategy asks for, then times the finalists again. Returns the record as stored.
  model::ProblemRecord run();

  std::int64_t trials_run() const { return trials_run_; }
  /// Why the reference could not be computed; empty when it could.
  const std::string& failure() const { return failure_; }
  bool stopped_by_budget() const { return stopped_by_budget_; }

 private:
  struct Ready {
    search::VariantId id = 0;
    model::Result<model::KernelBinary> binary;
    bool looked_up = false;  ///< whether an earlier trial may stand for it
  };
  struct Runner {
    search::VariantId id = 0;
    model::KernelBinary binary;
    model::TrialRecord trial;
    measure::Series series;
    bool done = false;
  };
  struct Finalist {
    Candidate candidate;
    std::vector<double> rounds;
    double cost_us = 0.0;
    bool failed = false;
  };

  // --- loop.cpp: from the strategy to what is ready to be measured
  void settle_counts();
  void explore();
  bool feed();
  void take_compiled(double timeout_s);
  bool reuse(search::VariantId id);
  void explain_miss(search::VariantId id, const std::map<std::string, std::string>& parts);
  void record(search::VariantId id, model::TrialRecord trial);
  void report_progress(bool finals);
  model::TrialRecord blank(search::VariantId id);
  const std::map<std::string, std::string>& parts(search::VariantId id);
  model::VariantPlan plan_of(search::VariantId id) const;
  compile::CompileJob job_of(search::VariantId id) const;
  compile::CompileJob reference_job() const;
  bool stop();

  // --- heat.cpp
  void admit();
  void enter(Ready ready);
  void run_round();
  void take_block(Runner& runner);
  bool is_back(Runner& runner);
  void finish(Runner& runner);
  void note_interval(const model::TimingSummary& timing, bool inconclusive);

  // --- timer.cpp
  void prepare_timer();
  void decide_timer();
  void set_timer(model::Timer timer, const std::string& why);

  // --- finals.cpp
  void time_finalists();
  model::Variant previous_winner() const;
  std::vector<Candidate> finalists() const;
  std::map<std::string, std::string> final_parts(search::VariantId id, const std::vector<Candidate>& chosen);
  bool reuse_finals(const std::vector<Candidate>& chosen);
  bool compile_finalist(Candidate& candidate);
  bool load_finalist(Candidate& candidate);
  model::Result<trial::MeasureReport> sample(Candidate& candidate, int samples);
  void time_rounds(std::vector<Finalist>& finalists);
  bool time_round(std::vector<Finalist>& finalists, int round);
  std::vector<Contender> contenders(const std::vector<Finalist>& finalists) const;
  void name_winner(std::vector<Finalist> finalists, const std::vector<Candidate>& chosen);
  bool last_round(Finalist& winner, Finalist* standard, const std::vector<Candidate>& chosen);
  void record_final(const Finalist& finalist, const measure::Series& series, const std::vector<Candidate>& chosen);

  Context& context_;
  const PreparedProblem& prepared_;
  std::size_t index_ = 0, count_ = 0;
  MeasurePolicy policy_;
  std::unique_ptr<search::Strategy> strategy_;
  model::ProblemRecord record_;
  std::map<std::int64_t, Ready> compiling_;
  std::deque<Ready> ready_;
  std::deque<Ready> postponed_;  ///< did not fit beside the heat
  std::vector<Runner> heat_;
  double best_high_us_ = 0.0;
  std::map<search::VariantId, std::map<std::string, std::string>> parts_;
  std::map<model::Outcome, std::int64_t> outcomes_;
  std::map<search::VariantId, Candidate> measured_;
  std::optional<std::int64_t> reference_ticket_, default_ticket_;
  std::optional<model::Result<model::KernelBinary>> default_binary_;  ///< of default_ticket_, once it is there
  std::optional<model::TimerRequest> timer_;  ///< of every request; empty until `auto` has decided
  std::int64_t trials_run_ = 0;
  std::int64_t reused_ = 0;
  bool exhausted_ = false;
  bool reference_ready_ = false;
  bool stopped_by_budget_ = false;
  std::string choice_doubt_;  ///< a warning: the rounds that chose the winner were throttled
  std::string failure_;
};

}  // namespace ktune::sweep
