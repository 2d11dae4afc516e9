#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/comparison.h"
#include "model/record.h"

namespace ktune::store {

/// What to read.
struct Filter {
  std::vector<std::string> ops{};
  std::vector<std::string> dtypes{};
  std::string device{};  ///< substring of the device's name or kind, case ignored
  std::string since{};   ///< UTC date or date-time; sessions that started then or later
  std::optional<std::int64_t> session{};
  bool with_samples = false;  ///< samples and logs are large: read only when asked
};

/// Trials in SQLite: WAL, STRICT tables, `user_version` migrations, one transaction a trial. Every constructor and
/// call throws Error(kEnvironment) when the database is locked, read-only, newer than this ktune ("made by a newer
/// ktune"), corrupt or not a database; reading never migrates or creates (an older one is read as it is), and throws
/// Error(kNoData) when there is nothing yet (no file, or an empty one).
///
/// What was committed survives the end of the process, however it comes (WAL, synchronous = NORMAL); a power cut may
/// cost the last few trials, never the database.
class Store {
 public:
  enum class Mode { kRead, kWrite };
  /// Another process' write lock is waited for at most `busy_timeout_ms`.
  Store(const std::string& path, Mode mode, int busy_timeout_ms = 10000);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  const std::string& path() const;

  std::int64_t add_session(const model::SessionRecord& session);
  void complete_session(std::int64_t session);
  std::int64_t add_problem(const model::ProblemRecord& problem);
  /// What is known only at the end: counts (not_visited, reused, rejected by resources), winner, tie set, timer.
  void update_problem(const model::ProblemRecord& problem);
  std::int64_t add_trial(const model::TrialRecord& trial);
  /// What was counted for a trial afterwards, in a process of its own: the one thing that is added to a trial later.
  void set_traffic(std::int64_t trial, const model::TrafficRecord& traffic);
  /// Counts an earlier trial as part of this problem too (a re-used one).
  void link_trial(std::int64_t problem, std::int64_t trial);
  /// Adds to the history of fits; nothing is replaced.
  void add_fit(const model::FitRecord& fit);
  /// The newest fit of each (mix, cache state, timer, launches) of a device under a driver and power limit.
  std::vector<model::FitRecord> fits(const std::string& device, const std::string& driver, double power_limit_w);
  /// Keeps what a problem with these hashes was swept from; what is there already is left alone.
  void add_source(const std::string& spec_hash, const std::string& source_hash, const model::SourceBundle& bundle);
  std::optional<model::SourceBundle> source(const std::string& spec_hash, const std::string& source_hash);
  /// Adds to the history of A/A runs.
  void add_noise(const model::ProcessNoise& noise);
  /// The newest of a device under a driver, power limit and cache state.
  std::optional<model::ProcessNoise> noise(const model::DeviceFacts& device, model::CacheState cache_state);
  /// Does everything `work` writes in one transaction: all of it is kept, or, if `work` throws, none. Not nested.
  void in_one_transaction(const std::function<void()>& work);

  /// The newest trial with this fingerprint whose outcome is worth re-using (all but Crashed and TimedOut), without
  /// samples and detail.
  std::optional<model::TrialRecord> find_trial(const std::string& fingerprint);
  /// The newest earlier trial of the same op, problem and variant, whatever it depended on: for "why a miss".
  std::optional<model::TrialRecord> nearest_trial(const std::string& op, const std::string& problem_text,
                                                  const std::string& variant_text);

  /// Every session that matches, with every trial and the fits of its device. A re-used trial appears once for each
  /// problem that counts it: `problem` names that problem, `session` the one that measured it.
  model::Dataset load(const Filter& filter);
  /// What a report of winners needs and no more: of each (op, problem, device, timer, cache state) the newest session
  /// that matches and has trials (model::NewestPick), with its counts in ProblemRecord::outcomes and, of its trials,
  /// the finals, the default's and the fastest. Milliseconds where `load` takes seconds.
  model::Dataset load_latest(const Filter& filter);
  std::optional<model::TrialRecord> load_trial(std::int64_t id);  ///< with samples and detail
  std::optional<model::ProblemRecord> load_problem(std::int64_t id);
  /// The winner that the newest session other than `session` named for this problem on a device of this name; no
  /// values: none did.
  model::Variant previous_winner(const std::string& op, const std::string& problem_text, const std::string& device,
                                 std::int64_t session);

  /// Every problem for which a session (`session`, or any where 0) named a winner on a device of this name: its newest
  /// record each; not those of `ktune roofline` where `of_roofline` is false.
  std::vector<model::ProblemRecord> winner_records(const std::string& device, std::int64_t session,
                                                   bool of_roofline = true);

  /// The names of the devices that sessions ran on and whose kernels are compiled for `target` ("sm_90").
  std::vector<std::string> devices_of(const std::string& target);

  /// Copies what another database has and this one lacks: whole sessions (known apart by a random uid), and the later
  /// trials of a session that was still running when it was last copied. Doing it twice changes nothing. Returns how
  /// many sessions were new.
  int merge_from(const std::string& other);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Merges databases into one, in turn; `into` is made where there is none. `merged` hears of each how many of its
/// sessions were new. What cannot be read is told before anything is made.
void merge_databases(const std::string& into, const std::vector<std::string>& from,
                     const std::function<void(const std::string& other, int sessions)>& merged);

}  // namespace ktune::store
