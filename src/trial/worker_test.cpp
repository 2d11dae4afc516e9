#include "trial/worker.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "compile/compile.h"
#include "trial/device_lock.h"
#include "trial/run_trial_for_test.h"
#include "trial/test_plans.h"

namespace ktune::trial {
namespace {

using model::Outcome;

constexpr double kDeadlineS = 1.0;

class WorkerTest : public testing::Test {
 protected:
  WorkerTest() {
    folder_ = std::filesystem::path(testing::TempDir()) / ("worker_test." + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    setenv("KTUNE_CACHE_DIR", folder_.c_str(), 1);
  }
  ~WorkerTest() override {
    unsetenv("KTUNE_CACHE_DIR");
    std::filesystem::remove_all(folder_);
  }

  Worker worker(const std::string& script) {
    write_file(folder_ / "script.json", script);
    return Worker("fake:" + (folder_ / "script.json").string(), kDeadlineS);
  }
  static model::Status set_problem(Worker& worker) { return worker.set_problem(vector_problem("op", 1024), {}); }
  static model::TrialRecord run(Worker& worker, std::int64_t id, const std::string& variant, bool keep = false) {
    measure::Request request;
    request.samples = 3;
    model::TrialRecord record;
    run_trial(worker, id, vector_variant("op", variant, 1024), {}, request, record, keep);
    return record;
  }

  std::filesystem::path folder_;
};

TEST_F(WorkerTest, MeasuresAndFillsTheRecord) {
  Worker fake =
      worker(R"({"default": {"times_us": [3, 4, 8]}, "states": [{"sm_clock_mhz": 1980, "other_processes": 1}]})");
  EXPECT_EQ(fake.facts().kind, "fake");
  ASSERT_TRUE(set_problem(fake).has_value());
  const model::TrialRecord record = run(fake, 1, "A=1");
  EXPECT_EQ(record.outcome, Outcome::kMeasured) << record.reason;
  EXPECT_EQ(record.samples.time_us, (std::vector<double>{3, 4, 8}));
  EXPECT_EQ(record.timing.time_us, 4.0);
  EXPECT_EQ(record.timing.n, 3);
  EXPECT_EQ(record.verify_margin, 0.25);
  EXPECT_EQ(record.before.sm_clock_mhz, 1980);
  ASSERT_EQ(record.warnings.size(), 2u) << "three samples, and another process";
  EXPECT_TRUE(record.warnings[1].starts_with("other-process: another process computes on this device"));
  EXPECT_EQ(fake.state().sm_clock_mhz, 1980);
  EXPECT_FALSE(fake.is_loaded(1));
  EXPECT_EQ(fake.restarts(), 0);
}

TEST_F(WorkerTest, GivesEachKindOfFailureItsOutcomeAndReason) {
  Worker fake = worker(R"({"trials": [
    {"match": {"variant": "A=1"}, "outcome": "Rejected", "reason": "needs 300 KiB of shared memory"},
    {"match": {"variant": "A=2"}, "outcome": "LaunchFailed", "reason": "too many resources"},
    {"match": {"variant": "A=3"}, "outcome": "WrongResult"},
    {"match": {"variant": "A=4"}, "outcome": "WrongResult", "fault": "input"},
    {"match": {"variant": "A=5"}, "outcome": "CompileFailed"}]})");
  ASSERT_TRUE(set_problem(fake).has_value());
  const auto text = [&fake](int id) {
    const model::TrialRecord record = run(fake, id, "A=" + std::to_string(id));
    return std::string(model::name_of(record.outcome)) + ": " + record.reason;
  };
  EXPECT_EQ(text(1), "Rejected: needs 300 KiB of shared memory");
  EXPECT_EQ(text(2), "LaunchFailed: too many resources");
  EXPECT_EQ(text(3),
            "WrongResult: out: 1024 of 1024 elements differ, first at [0]: 0, expected 1 (at worst 40 times the "
            "tolerance)");
  EXPECT_EQ(text(4), "WrongResult: changed its input x");
  EXPECT_EQ(text(5), "CompileFailed: scripted compile error");
  EXPECT_EQ(text(6), "Measured: ");
  EXPECT_EQ(fake.restarts(), 0) << "none of these costs the worker";
}

TEST_F(WorkerTest, ACrashCostsOneVariantAndTheProblemIsSentAgain) {
  Worker fake = worker(R"({"trials": [{"match": {"variant": "A=2"}, "outcome": "Crashed", "reason": "bang"}]})");
  ASSERT_TRUE(set_problem(fake).has_value());
  EXPECT_EQ(run(fake, 1, "A=1", true).outcome, Outcome::kMeasured);
  EXPECT_TRUE(fake.is_loaded(1));
  const model::TrialRecord crashed = run(fake, 2, "A=2");
  EXPECT_EQ(crashed.outcome, Outcome::kCrashed);
  EXPECT_NE(crashed.reason.find("SIGSEGV"), std::string::npos) << crashed.reason;
  EXPECT_NE(crashed.reason.find("bang"), std::string::npos) << crashed.reason;
  EXPECT_EQ(crashed.detail, "bang\n");
  EXPECT_FALSE(fake.is_loaded(1)) << "it went with the worker";
  EXPECT_EQ(fake.measure(1, {}).error().reason, "it was loaded in a worker that has been replaced since");
  EXPECT_EQ(run(fake, 1, "A=1").outcome, Outcome::kMeasured);
  EXPECT_EQ(run(fake, 3, "A=3").outcome, Outcome::kMeasured);
  EXPECT_EQ(fake.restarts(), 1);
}

TEST_F(WorkerTest, AStickyFaultReplacesTheWorker) {
  Worker fake = worker(R"({"trials": [{"match": {"variant": "A=2"}, "outcome": "Sticky", "at": "time"}]})");
  ASSERT_TRUE(set_problem(fake).has_value());
  const model::TrialRecord faulty = run(fake, 2, "A=2");
  EXPECT_EQ(faulty.outcome, Outcome::kCrashed);
  EXPECT_EQ(faulty.reason, "an illegal memory access was encountered");
  EXPECT_EQ(run(fake, 3, "A=3").outcome, Outcome::kMeasured);
  EXPECT_EQ(fake.restarts(), 1);
}

TEST_F(WorkerTest, AHangIsKilledAtTheDeadline) {
  Worker fake = worker(R"({"trials": [{"match": {"variant": "A=2"}, "outcome": "hang"}]})");
  ASSERT_TRUE(set_problem(fake).has_value());
  const double start = now_s();
  const model::TrialRecord hung = run(fake, 2, "A=2");
  EXPECT_LT(now_s() - start, 5.0);
  EXPECT_EQ(hung.outcome, Outcome::kTimedOut);
  EXPECT_EQ(hung.reason, "no answer within 1 s (verify)");
  EXPECT_EQ(run(fake, 3, "A=3").outcome, Outcome::kMeasured);
  EXPECT_EQ(fake.restarts(), 1);
}

TEST_F(WorkerTest, MeasuresResidentVariantsInTurn) {
  Worker fake = worker(R"({"trials": [{"match": {"variant": "A=1"}, "times_us": [1, 2, 3, 4, 5, 6]},
                                      {"match": {"variant": "A=2"}, "time_us": 9}]})");
  ASSERT_TRUE(set_problem(fake).has_value());
  run(fake, 1, "A=1", true);
  run(fake, 2, "A=2", true);
  measure::Request request;
  request.samples = 2;
  EXPECT_EQ(fake.measure(1, request)->samples.time_us, (std::vector<double>{4, 5}));
  EXPECT_EQ(fake.measure(2, request)->samples.time_us, (std::vector<double>{9, 9}));
  EXPECT_EQ(fake.measure(1, request)->samples.time_us, (std::vector<double>{6, 1}));
}

TEST_F(WorkerTest, MeasuringWhatWasNeverVerifiedIsABug) {
  Worker fake = worker("{}");
  ASSERT_TRUE(set_problem(fake).has_value());
  ASSERT_TRUE(fake.load(1, vector_variant("op", "A=1", 1024), {}).has_value());
  EXPECT_DEATH(static_cast<void>(fake.measure(1, {})), "ever_verified");
}

TEST_F(WorkerTest, RunsHundredsOfTrialsInASecond) {
  Worker fake = worker(R"({"default": {"time_us": 10, "sd_us": 0.1}})");
  ASSERT_TRUE(set_problem(fake).has_value());
  const double start = now_s();
  for (int i = 0; i < 300; ++i) ASSERT_EQ(run(fake, i, "A=" + std::to_string(i)).outcome, Outcome::kMeasured);
  EXPECT_LT(now_s() - start, 3.0);
}

TEST_F(WorkerTest, GivesTheDevicesOwnMessageWhenItCannotBeOpened) {
  Worker broken = worker("{");
  try {
    broken.facts();
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_TRUE(error.message().starts_with("the fake device's script: ")) << error.message();
    EXPECT_EQ(error.where(), (folder_ / "script.json").string());
  }
}

TEST_F(WorkerTest, RefusesAProblemBeyondTheDevice) {
  Worker fake = worker(R"({"facts": {"memory_bytes": 5000}})");
  const model::Status status = set_problem(fake);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().outcome, Outcome::kRejected);
  EXPECT_TRUE(status.error().reason.starts_with("needs 16.0 KiB of device memory")) << status.error().reason;
}

TEST_F(WorkerTest, KeepsASecondSweepOffTheDevice) {
  const std::string script = R"({"facts": {"uuid": "FAKE-1", "name": "Fake H200"}})";
  Worker first = worker(script);
  ASSERT_TRUE(set_problem(first).has_value());
  Worker second = worker(script);
  EXPECT_EQ(second.facts().uuid, "FAKE-1") << "asking is free";
  EXPECT_THROW(static_cast<void>(set_problem(second)), Error);
  std::string holder;
  second.wait_for_device(
      [&](const std::string& text) {
        holder = text;
        first = Worker("none");
      },
      10.0);
  EXPECT_TRUE(set_problem(second).has_value());
  EXPECT_EQ(holder, "waiting until another ktune (process " + std::to_string(getpid()) + ") has finished on Fake H200");
}

TEST_F(WorkerTest, ADeviceThatNoNewWorkerCanUseEndsTheSweepAsAnEnvironmentError) {
  Worker fake = worker(R"({"trials": [{"match": {"variant": {"A": 1}}, "outcome": "Crashed"}]})");
  ASSERT_TRUE(set_problem(fake).has_value());
  EXPECT_EQ(run(fake, 1, "A=1").outcome, Outcome::kCrashed);
  write_file(folder_ / "script.json", "{");  // from now on it does not open
  try {
    run(fake, 2, "A=2");
    FAIL() << "the worker came back";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_NE(error.message().find("was lost: 3 new workers in a row could not use it"), std::string::npos);
  }
  EXPECT_EQ(fake.restarts(), 3);
}

TEST_F(WorkerTest, ADeviceThatComesBackIsUsedAgain) {
  const std::string script = R"({"trials": [{"match": {"variant": {"A": 1}}, "outcome": "Crashed"}]})";
  Worker fake = worker(script);
  ASSERT_TRUE(set_problem(fake).has_value());
  EXPECT_EQ(run(fake, 1, "A=1").outcome, Outcome::kCrashed);
  write_file(folder_ / "script.json", "{");
  std::thread mender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    write_file(folder_ / "script.json", script);
  });
  const model::TrialRecord record = run(fake, 2, "A=2");
  mender.join();
  EXPECT_EQ(record.outcome, Outcome::kMeasured) << record.reason;
  EXPECT_GE(fake.restarts(), 2);
}

}  // namespace
}  // namespace ktune::trial

/// The tests' own worker and compile worker: `test_trial worker --device NAME`, `test_trial compile-worker`.
int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "compile-worker") return ktune::compile::compile_worker_main();
  if (argc == 4 && std::string_view(argv[1]) == "worker") return ktune::trial::worker_main(argv[3]);
  testing::InitGoogleTest(&argc, argv);
  setenv("KTUNE_BINARY", ktune::executable_path().c_str(), 1);
  return RUN_ALL_TESTS();
}
