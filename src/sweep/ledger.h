#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/op_spec.h"
#include "model/record.h"
#include "store/store.h"

namespace ktune::sweep {

/// Where a sweep writes what it did, and finds what earlier ones did: the database, or memory in tests. The functions
/// mean what those of store::Store mean.
class Ledger {
 public:
  virtual ~Ledger() = default;
  /// `full`: the spec the problem is of, whose files are kept. Returns the record's id.
  virtual std::int64_t add_problem(const model::ProblemRecord& record, const model::OpSpec& full) = 0;
  virtual void update_problem(const model::ProblemRecord& record) = 0;
  virtual void add_trial(const model::TrialRecord& trial) = 0;
  virtual void link_trial(std::int64_t problem, std::int64_t trial) = 0;
  virtual std::optional<model::TrialRecord> find_trial(const std::string& fingerprint) = 0;
  virtual std::optional<model::TrialRecord> nearest_trial(const std::string& op, const std::string& problem_text,
                                                          const std::string& variant_text) = 0;
  virtual std::optional<model::ProblemRecord> load_problem(std::int64_t id) = 0;
  virtual model::Variant previous_winner(const std::string& op, const std::string& problem_text,
                                         const std::string& device, std::int64_t session) = 0;
};

class StoreLedger : public Ledger {
 public:
  explicit StoreLedger(store::Store& store) : store_(store) {}

  std::int64_t add_problem(const model::ProblemRecord& record, const model::OpSpec& full) override;
  void update_problem(const model::ProblemRecord& record) override { store_.update_problem(record); }
  void add_trial(const model::TrialRecord& trial) override { store_.add_trial(trial); }
  void link_trial(std::int64_t problem, std::int64_t trial) override { store_.link_trial(problem, trial); }
  std::optional<model::TrialRecord> find_trial(const std::string& fingerprint) override {
    return store_.find_trial(fingerprint);
  }
  std::optional<model::TrialRecord> nearest_trial(const std::string& op, const std::string& problem_text,
                                                  const std::string& variant_text) override {
    return store_.nearest_trial(op, problem_text, variant_text);
  }
  std::optional<model::ProblemRecord> load_problem(std::int64_t id) override { return store_.load_problem(id); }
  model::Variant previous_winner(const std::string& op, const std::string& problem_text, const std::string& device,
                                 std::int64_t session) override {
    return store_.previous_winner(op, problem_text, device, session);
  }

 private:
  store::Store& store_;
};

}  // namespace ktune::sweep
