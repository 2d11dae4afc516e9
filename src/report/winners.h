#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "report/report.h"

namespace ktune::report {

/// A dataset with its records found by id; valid as long as the dataset.
class Indexed {
 public:
  explicit Indexed(const model::Dataset& dataset);

  const model::Dataset& dataset() const { return dataset_; }
  const model::SessionRecord& session_of(const model::ProblemRecord& problem) const;
  /// In the order of their ids.
  const std::vector<const model::TrialRecord*>& trials_of(const model::ProblemRecord& problem) const;
  /// The problems a report shows, newest first (model::NewestPick).
  std::vector<const model::ProblemRecord*> newest() const;

 private:
  const model::Dataset& dataset_;
  std::map<std::int64_t, const model::SessionRecord*> sessions_;
  std::map<std::int64_t, std::vector<const model::TrialRecord*>> trials_;
};

/// Everything of a row but its trial and what depends on the ceiling: names, bytes, counts, provenance, the default's
/// time.
Row problem_row(const Indexed& index, const model::ProblemRecord& problem);
/// The winner's row, without ceiling and floor.
Row winner_row(const Indexed& index, const model::ProblemRecord& problem);
/// "cold L2" as a GPU's cache is called, "cold cache" of a host.
std::string cache_text(const Row& row);
/// A trial's row, made from its problem's.
Row trial_row(Row problem_row, const model::DeviceFacts& device, const model::TrialRecord& trial);

}  // namespace ktune::report
