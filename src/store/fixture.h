#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "model/record.h"
#include "store/store.h"

// Records and a folder for the tests of store.

namespace ktune::store {

/// A folder of the test's own, removed with it.
class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "ktune-store-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name = "a.db") const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

inline model::SessionRecord session_of(const std::string& date, const std::string& device = "NVIDIA H200",
                                       const std::string& kind = "cuda") {
  model::SessionRecord session;
  session.date = date;
  session.command = "ktune sweep --op rmsnorm";
  session.version = "0.1.0";
  session.commit = "abc123";
  session.device.kind = kind;
  session.device.name = device;
  session.device.driver = "580.159.04";
  session.device.toolkit = "NVRTC 13.0";
  session.device.l2_bytes = 60 << 20;
  session.device.spec_gbps = 4814.0;
  return session;
}

inline model::Problem problem_of(const std::string& op, std::int64_t rows, const std::string& dtype = "bf16") {
  model::Problem problem;
  problem.op = op;
  problem.dims = {{"M", rows}, {"N", 4096}};
  problem.types = {{"scalar_t", dtype}};
  return problem;
}

inline model::Variant variant_of(std::int64_t block, std::int64_t warps = 4, const std::string& loader = "ldg") {
  return {{{"BLOCK_SIZE", {block, ""}}, {"num_warps", {warps, ""}}, {"LOADER", {1, loader}}}};
}

inline model::ProblemRecord record_of(std::int64_t session, const model::Problem& problem) {
  model::ProblemRecord record;
  record.session = session;
  record.op = problem.op;
  record.spec_hash = "spec";
  record.source_hash = "source";
  record.problem = problem;
  record.default_variant = variant_of(1024);
  record.cost = {1000, 500, 8, 42};
  record.enumerated = 12;
  record.rejected = {{"each thread needs at least one element", 7}};
  record.not_visited = 2;
  record.reused = 1;
  return record;
}

inline model::TrialRecord trial_of(const model::ProblemRecord& problem, const model::Variant& variant, double time_us) {
  model::TrialRecord trial;
  trial.session = problem.session;
  trial.problem = problem.id;
  trial.op = problem.op;
  trial.problem_text = problem.problem.text();
  trial.variant = variant;
  trial.is_default = variant == problem.default_variant;
  trial.fingerprint = "fp " + trial.problem_text + " " + variant.text();
  trial.date = "2026-11-29T14:03:05Z";
  trial.timing.time_us = time_us;
  trial.timing.n = 3;
  trial.samples.time_us = {time_us, time_us - 0.5, time_us + 0.5};
  return trial;
}

inline model::TrialRecord failure_of(const model::ProblemRecord& problem, const model::Variant& variant,
                                     model::Outcome outcome, const std::string& reason) {
  model::TrialRecord trial = trial_of(problem, variant, 0.0);
  trial.timing = {};
  trial.samples.time_us.clear();
  trial.outcome = outcome;
  trial.reason = reason;
  return trial;
}

/// Runs the call and returns what it threw; fails the test if it threw nothing.
template <typename Call>
Error thrown_by(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorKind::kNo, "");
}

}  // namespace ktune::store
