#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "search/search.h"
#include "store/store.h"
#include "sweep/sweep.h"
#include "trial/worker.h"

// One problem's way through strategy → compile → trial → store. Compiles run ahead in processes while the one worker
// measures: measured on a 16-core H200 host a compile takes about 100 ms and a trial 20, so sixteen processes keep one
// GPU busy.

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
  model::KernelBinary binary;
};

/// How a trial samples on this device, and how many finalists there are.
struct MeasurePolicy {
  trial::MeasureRequest request;
  int finalists = 8;
};
MeasurePolicy measure_policy(const model::DeviceFacts& facts, const Options& options);

/// Adds one round's samples to a finalist's record.
void append_samples(model::TrialRecord& trial, const trial::MeasureReport& report);

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
    model::KernelBinary binary;
  };

  void prepare_reference();
  void explore();
  bool feed();
  void take_compiled(double timeout_s);
  bool reuse(search::VariantId id);
  void explain_miss(search::VariantId id, const std::map<std::string, std::string>& parts);
  void run_one(const Ready& ready);
  void record(search::VariantId id, model::TrialRecord trial);
  void time_finalists();
  std::vector<Candidate> finalists();
  bool reuse_finals(const std::vector<Candidate>& chosen);
  bool load_finalist(Candidate& candidate);
  void time_finalist(Candidate& candidate, model::TrialRecord& trial, const trial::MeasureRequest& request);
  void report_progress(bool finals);
  model::TrialRecord blank(search::VariantId id) const;
  bool stop();

  Context& context_;
  const PreparedProblem& prepared_;
  std::size_t index_ = 0, count_ = 0;
  std::unique_ptr<search::Strategy> strategy_;
  model::ProblemRecord record_;
  std::map<std::int64_t, search::VariantId> compiling_;
  std::deque<Ready> ready_;
  std::map<search::VariantId, std::map<std::string, std::string>> parts_;
  std::map<model::Outcome, std::int64_t> outcomes_;
  std::map<search::VariantId, Candidate> measured_;
  std::optional<std::int64_t> reference_ticket_;
  std::int64_t trials_run_ = 0;
  std::int64_t reused_ = 0;
  bool exhausted_ = false;
  bool reference_ready_ = false;
  bool stopped_by_budget_ = false;
  std::string failure_;
};

}  // namespace ktune::sweep
