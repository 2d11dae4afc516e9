#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/record.h"

// A dataset built line by line for the tests of report: ids are given in order, every session is complete.

namespace ktune::report {

inline model::Variant variant_of(std::int64_t block, std::int64_t warps = 4) {
  return {{{"BLOCK_SIZE", {block, ""}}, {"num_warps", {warps, ""}}, {"LOADER", {2, "ldg"}}}};
}

class DatasetBuilder {
 public:
  model::Dataset dataset;

  model::SessionRecord& session(const std::string& date, const std::string& kind = "cuda",
                                const std::string& name = "NVIDIA H200") {
    model::SessionRecord record;
    record.id = static_cast<std::int64_t>(dataset.sessions.size()) + 1;
    record.date = date;
    record.commit = "abc123";
    record.device.kind = kind;
    record.device.name = name;
    record.device.driver = "580.159.04";
    record.device.toolkit = "NVRTC 13.0";
    record.device.spec_gbps = 4800.0;
    record.complete = true;
    dataset.sessions.push_back(record);
    return dataset.sessions.back();
  }

  /// A problem of the last session. Counts: see account().
  model::ProblemRecord& problem(const std::string& op, std::int64_t rows, std::int64_t bytes_read,
                                std::int64_t bytes_written, const std::string& dtype = "bf16") {
    model::ProblemRecord record;
    record.id = static_cast<std::int64_t>(dataset.problems.size()) + 1;
    record.session = dataset.sessions.back().id;
    record.op = op;
    record.spec_hash = "spec1";
    record.problem.op = op;
    record.problem.dims = {{"M", rows}, {"N", 4096}};
    record.problem.types = {{"scalar_t", dtype}};
    record.default_variant = variant_of(1024);
    record.cost.bytes_read = bytes_read;
    record.cost.bytes_written = bytes_written;
    dataset.problems.push_back(record);
    return dataset.problems.back();
  }

  /// A trial of the last problem.
  model::TrialRecord& trial(const model::Variant& variant, double time_us, bool is_final = false) {
    model::TrialRecord record;
    record.id = static_cast<std::int64_t>(dataset.trials.size()) + 1;
    record.session = dataset.problems.back().session;
    record.problem = dataset.problems.back().id;
    record.op = dataset.problems.back().op;
    record.problem_text = dataset.problems.back().problem.text();
    record.variant = variant;
    record.is_default = variant == dataset.problems.back().default_variant;
    record.is_final = is_final;
    record.timing.time_us = time_us;
    record.timing.ci_low_us = time_us * 0.99;
    record.timing.ci_high_us = time_us * 1.01;
    record.timing.n = 100;
    dataset.trials.push_back(record);
    return dataset.trials.back();
  }

  model::TrialRecord& failure(const model::Variant& variant, model::Outcome outcome, const std::string& reason) {
    model::TrialRecord& record = trial(variant, 0.0);
    record.timing = {};
    record.outcome = outcome;
    record.reason = reason;
    return record;
  }

  /// Sets `enumerated` of the last problem to what its rejected, trials and not visited ones add up to.
  void account() {
    model::ProblemRecord& problem = dataset.problems.back();
    problem.enumerated = problem.not_visited;
    for (const auto& [why, count] : problem.rejected) problem.enumerated += count;
    for (const model::TrialRecord& trial : dataset.trials)
      if (trial.problem == problem.id && !trial.is_final) ++problem.enumerated;
  }

  /// A problem with one measured variant, the default.
  void measured(const std::string& op, std::int64_t rows, std::int64_t bytes_read, std::int64_t bytes_written,
                double time_us, const std::string& dtype = "bf16") {
    problem(op, rows, bytes_read, bytes_written, dtype);
    trial(variant_of(1024), time_us);
    account();
  }
};

}  // namespace ktune::report
