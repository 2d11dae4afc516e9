#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/record.h"

namespace ktune::store {

/// What to read.
struct Filter {
  std::vector<std::string> ops;
  std::vector<std::string> dtypes;
  std::string device;   ///< substring of the device's name or kind, case ignored
  std::string since;    ///< UTC date or date-time; sessions that started then or later
  std::optional<std::int64_t> session;
  bool with_samples = false;  ///< samples and logs are large: read only when asked
};

/// Trials in SQLite: WAL, STRICT tables, `user_version` migrations, one transaction a trial. Every constructor and
/// call throws Error(kEnvironment) when the database is locked, read-only, newer than this ktune ("made by a newer
/// ktune"), corrupt or not a database; reading never migrates or creates.
class Store {
 public:
  enum class Mode { kRead, kWrite };
  Store(const std::string& path, Mode mode);
  ~Store();
  Store(Store&&) noexcept;

  const std::string& path() const;

  std::int64_t add_session(const model::SessionRecord& session);
  void complete_session(std::int64_t session);
  std::int64_t add_problem(const model::ProblemRecord& problem);
  /// Counts known only at the end (not_visited, reused, rejected by resources).
  void update_problem(const model::ProblemRecord& problem);
  std::int64_t add_trial(const model::TrialRecord& trial);
  /// Counts an earlier trial as part of this problem too (a re-used one).
  void link_trial(std::int64_t problem, std::int64_t trial);

  /// The newest trial with this fingerprint whose outcome is worth re-using (all but Crashed and TimedOut).
  std::optional<model::TrialRecord> find_trial(const std::string& fingerprint);
  /// The newest earlier trial of the same op, problem and variant, whatever it depended on: for "why a miss".
  std::optional<model::TrialRecord> nearest_trial(const std::string& op, const std::string& problem_text,
                                                  const std::string& variant_text);

  model::Dataset load(const Filter& filter);
  std::optional<model::TrialRecord> load_trial(std::int64_t id);  ///< with samples and detail

  /// Copies the sessions of another database that this one lacks (by session uid). Returns how many.
  int merge_from(const std::string& other);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ktune::store
