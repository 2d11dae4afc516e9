#include "store/store.h"

#include <cmath>
#include <filesystem>
#include <limits>

#include "store/fixture.h"

namespace ktune::store {
namespace {

TEST_F(StoreTest, EveryFieldOfASessionComesBack) {
  Store store(file(), Store::Mode::kWrite);
  model::SessionRecord session = session_of("2026-11-29T14:03:05Z");
  session.device.uuid = "GPU-1";
  session.device.sm = 90;
  session.device.host = "EPYC";
  session.id = store.add_session(session);
  store.add_problem(record_of(session.id, problem_of("rmsnorm", 4)));
  const model::Dataset before = store.load({});
  ASSERT_EQ(before.sessions.size(), 1U);
  const model::SessionRecord& back = before.sessions[0];
  EXPECT_EQ(back.id, session.id);
  EXPECT_EQ(back.date, "2026-11-29T14:03:05Z");
  EXPECT_EQ(back.command, "ktune sweep --op rmsnorm");
  EXPECT_EQ(back.version, "0.1.0");
  EXPECT_EQ(back.commit, "abc123");
  EXPECT_EQ(back.device.uuid, "GPU-1");
  EXPECT_EQ(back.device.sm, 90);
  EXPECT_EQ(back.device.l2_bytes, 60 << 20);
  EXPECT_EQ(back.device.spec_gbps, 4814.0);
  EXPECT_EQ(back.device.host, "EPYC");
  EXPECT_FALSE(back.complete);
  store.complete_session(session.id);
  EXPECT_TRUE(store.load({}).sessions[0].complete);
}

TEST_F(StoreTest, SaysThatItsFileIsGoneOrAnotherOne) {
  const auto write_fails = [&](Store& store) {
    try {
      store.add_session(session_of("2026-11-29T14:03:05Z"));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
      EXPECT_EQ(error.message(),
                "the database " + file() + " was removed or replaced while it was written: what went into it is lost");
      return true;
    }
    return false;
  };
  Store store(file(), Store::Mode::kWrite);
  EXPECT_FALSE(write_fails(store));
  std::filesystem::rename(file(), file() + ".moved");
  EXPECT_TRUE(write_fails(store));
  std::filesystem::copy_file(file() + ".moved", file());
  EXPECT_TRUE(write_fails(store)) << "it writes into the moved one";
  std::filesystem::remove(file());
  std::filesystem::rename(file() + ".moved", file());
  EXPECT_FALSE(write_fails(store));
}

TEST_F(StoreTest, EveryFieldOfAProblemComesBackAndItsCountsCanBeUpdated) {
  Store store(file(), Store::Mode::kWrite);
  const std::int64_t session = store.add_session(session_of("2026-11-29T14:03:05Z"));
  model::ProblemRecord problem = record_of(session, problem_of("rmsnorm", 4));
  problem.problem.attrs = {{"cast_mode", {1, "gemma"}}};
  problem.problem.strides = {{"x", {8192, 1}}};
  problem.id = store.add_problem(problem);
  problem.not_visited = 5;
  problem.reused = 3;
  problem.rejected["needs 300 KiB"] = 4;
  problem.winner = variant_of(2048, 8);
  problem.tie_set = {variant_of(2048, 8), variant_of(1024)};
  problem.timer = "cupti";
  EXPECT_TRUE(store.load({}).problems[0].winner.values.empty());
  EXPECT_TRUE(store.load({}).problems[0].tie_set.empty());
  store.update_problem(problem);
  const model::Dataset dataset = store.load({});
  ASSERT_EQ(dataset.problems.size(), 1U);
  const model::ProblemRecord& back = dataset.problems[0];
  EXPECT_EQ(back.id, problem.id);
  EXPECT_EQ(back.session, session);
  EXPECT_EQ(back.op, "rmsnorm");
  EXPECT_EQ(back.spec_hash, "spec");
  EXPECT_EQ(back.source_hash, "source");
  EXPECT_EQ(back.problem.text(), problem.problem.text());
  EXPECT_EQ(back.problem.attrs[0].second, (model::Value{1, "gemma"}));
  EXPECT_EQ(back.default_variant, variant_of(1024));
  EXPECT_EQ(back.cost.bytes_read, 1000);
  EXPECT_EQ(back.cost.bytes_written, 500);
  EXPECT_EQ(back.cost.scratch_bytes, 8);
  EXPECT_EQ(back.cost.flops, 42);
  EXPECT_EQ(back.enumerated, 12);
  EXPECT_EQ(back.not_visited, 5);
  EXPECT_EQ(back.reused, 3);
  EXPECT_EQ(back.rejected.at("each thread needs at least one element"), 7);
  EXPECT_EQ(back.rejected.at("needs 300 KiB"), 4);
  EXPECT_TRUE(back.outcomes.empty());
  EXPECT_EQ(back.winner, variant_of(2048, 8));
  EXPECT_EQ(back.tie_set, (std::vector<model::Variant>{variant_of(2048, 8), variant_of(1024)}));
  EXPECT_EQ(back.timer, "cupti");
}

model::TrialRecord full_trial(const model::ProblemRecord& problem) {
  model::TrialRecord trial = trial_of(problem, variant_of(2048, 8), 21.25);
  trial.is_final = true;
  trial.detail = "a log with 'quotes' and\nlines";
  trial.fingerprint_parts = {{"spec", "1"}, {"driver", "580"}};
  trial.binary_key = "key";
  trial.resources = {{"rmsnorm", {64, 128, 16, 4, 8}}};
  trial.compile_ms = 101.5;
  trial.verify_margin = 0.25;
  trial.seed = 0xFFFFFFFFFFFFFFF1ULL;
  trial.timing = {21.25, 21.5, 20.0, 20.5, 22.0, 21.0, 21.75, 0.9, 3};
  trial.samples.timer = model::Timer::kGraph;
  trial.samples.cache_state = model::CacheState::kDirty;
  trial.before = {1980.0, 3201.0, 300.0, 41.0, 4, 1};
  trial.after.sm_clock_mhz = 1500.0;
  trial.warnings = {"clock moved", "µ"};
  return trial;
}

TEST_F(StoreTest, EveryFieldOfATrialComesBackBitForBit) {
  Store store(file(), Store::Mode::kWrite);
  const std::int64_t session = store.add_session(session_of("2026-11-29T14:03:05Z"));
  model::ProblemRecord problem = record_of(session, problem_of("rmsnorm", 4));
  problem.id = store.add_problem(problem);
  model::TrialRecord trial = full_trial(problem);
  trial.samples.time_us = {21.25, 0.1, 1e-300, std::nextafter(20.0, 21.0)};
  const std::int64_t id = store.add_trial(trial);
  const auto back = store.load_trial(id);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->id, id);
  EXPECT_EQ(back->session, session);
  EXPECT_EQ(back->problem, problem.id);
  EXPECT_EQ(back->op, "rmsnorm");
  EXPECT_EQ(back->problem_text, "M=4 N=4096 bf16");
  EXPECT_EQ(back->variant, variant_of(2048, 8));
  EXPECT_FALSE(back->is_default);
  EXPECT_TRUE(back->is_final);
  EXPECT_EQ(back->outcome, model::Outcome::kMeasured);
  EXPECT_EQ(back->detail, "a log with 'quotes' and\nlines");
  EXPECT_EQ(back->fingerprint, trial.fingerprint);
  EXPECT_EQ(back->fingerprint_parts, trial.fingerprint_parts);
  EXPECT_EQ(back->binary_key, "key");
  EXPECT_EQ(back->resources.at("rmsnorm").registers, 64);
  EXPECT_EQ(back->resources.at("rmsnorm").spill_load_bytes, 8);
  EXPECT_EQ(back->compile_ms, 101.5);
  EXPECT_EQ(back->verify_margin, 0.25);
  EXPECT_EQ(back->seed, 0xFFFFFFFFFFFFFFF1ULL);
  EXPECT_EQ(back->timing.time_us, 21.25);
  EXPECT_EQ(back->timing.mean_us, 21.5);
  EXPECT_EQ(back->timing.min_us, 20.0);
  EXPECT_EQ(back->timing.p10_us, 20.5);
  EXPECT_EQ(back->timing.p90_us, 22.0);
  EXPECT_EQ(back->timing.ci_low_us, 21.0);
  EXPECT_EQ(back->timing.ci_high_us, 21.75);
  EXPECT_EQ(back->timing.ci_level, 0.9);
  EXPECT_EQ(back->timing.n, 3);
  EXPECT_EQ(back->samples.time_us, trial.samples.time_us);
  EXPECT_EQ(back->samples.timer, model::Timer::kGraph);
  EXPECT_EQ(back->samples.cache_state, model::CacheState::kDirty);
  EXPECT_EQ(back->before.sm_clock_mhz, 1980.0);
  EXPECT_EQ(back->before.throttle_bits, 4U);
  EXPECT_EQ(back->after.sm_clock_mhz, 1500.0);
  EXPECT_EQ(back->warnings, (std::vector<std::string>{"clock moved", "µ"}));
  EXPECT_FALSE(store.load_trial(id + 1));
}

TEST_F(StoreTest, SamplesAndLogsAreReadOnlyWhenAskedFor) {
  Store store(file(), Store::Mode::kWrite);
  const std::int64_t session = store.add_session(session_of("2026-11-29T14:03:05Z"));
  model::ProblemRecord problem = record_of(session, problem_of("rmsnorm", 4));
  problem.id = store.add_problem(problem);
  store.add_trial(full_trial(problem));
  const model::Dataset light = store.load({});
  ASSERT_EQ(light.trials.size(), 1U);
  EXPECT_TRUE(light.trials[0].samples.time_us.empty());
  EXPECT_EQ(light.trials[0].detail, "");
  EXPECT_EQ(light.trials[0].samples.timer, model::Timer::kGraph);
  Filter filter;
  filter.with_samples = true;
  const model::Dataset full = store.load(filter);
  EXPECT_EQ(full.trials[0].samples.time_us, (std::vector<double>{21.25, 20.75, 21.75}));
  EXPECT_EQ(full.trials[0].detail, "a log with 'quotes' and\nlines");
}

TEST_F(StoreTest, AFailedTrialHasNoTimesAndKeepsItsReasonWhateverBytesItsLogHolds) {
  Store store(file(), Store::Mode::kWrite);
  const std::int64_t session = store.add_session(session_of("2026-11-29T14:03:05Z"));
  model::ProblemRecord problem = record_of(session, problem_of("rmsnorm", 4));
  problem.id = store.add_problem(problem);
  model::TrialRecord trial =
      failure_of(problem, variant_of(256), model::Outcome::kWrongResult, "y: 12 of 4096 elements differ");
  trial.verify_margin = std::numeric_limits<double>::infinity();
  trial.detail = "bytes \xff\xfe";
  trial.warnings = {"not UTF-8: \xff"};
  const auto back = store.load_trial(store.add_trial(trial));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->outcome, model::Outcome::kWrongResult);
  EXPECT_EQ(back->reason, "y: 12 of 4096 elements differ");
  EXPECT_EQ(back->timing.n, 0);
  EXPECT_EQ(back->timing.time_us, 0.0);
  EXPECT_TRUE(back->samples.time_us.empty());
  EXPECT_EQ(back->verify_margin, std::numeric_limits<double>::infinity());
  EXPECT_EQ(back->detail, "bytes \xff\xfe");
  EXPECT_EQ(back->warnings[0], "not UTF-8: \xEF\xBF\xBD");
  trial.verify_margin = std::nan("");
  EXPECT_TRUE(std::isnan(store.load_trial(store.add_trial(trial))->verify_margin));
}

TEST_F(StoreTest, FindsTheNewestTrialOfAFingerprintButNoCrashOrTimeout) {
  Store store(file(), Store::Mode::kWrite);
  const std::int64_t session = store.add_session(session_of("2026-11-29T14:03:05Z"));
  model::ProblemRecord problem = record_of(session, problem_of("rmsnorm", 4));
  problem.id = store.add_problem(problem);
  model::TrialRecord trial = trial_of(problem, variant_of(256), 10.0);
  store.add_trial(trial);
  trial.timing.time_us = 11.0;
  const std::int64_t second = store.add_trial(trial);
  for (const auto outcome : {model::Outcome::kCrashed, model::Outcome::kTimedOut}) {
    store.add_trial(failure_of(problem, variant_of(256), outcome, "gone"));
    store.add_trial(failure_of(problem, variant_of(512), outcome, "gone"));
  }
  const auto found = store.find_trial(trial.fingerprint);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, second);
  EXPECT_EQ(found->timing.time_us, 11.0);
  EXPECT_FALSE(store.find_trial(trial_of(problem, variant_of(512), 1.0).fingerprint));
  const std::int64_t failed =
      store.add_trial(failure_of(problem, variant_of(512), model::Outcome::kCompileFailed, "no"));
  EXPECT_EQ(store.find_trial(trial_of(problem, variant_of(512), 1.0).fingerprint)->id, failed);
}

TEST_F(StoreTest, FindsNoFailureThatWasTheMachinesDoing) {
  Store store(file(), Store::Mode::kWrite);
  model::ProblemRecord problem =
      record_of(store.add_session(session_of("2026-11-29T14:03:05Z")), problem_of("rmsnorm", 4));
  problem.id = store.add_problem(problem);
  model::TrialRecord trial =
      failure_of(problem, variant_of(256), model::Outcome::kRejected, "needs 2 GiB of device memory, 1 GiB is free");
  trial.transient = true;
  const std::int64_t id = store.add_trial(trial);
  EXPECT_FALSE(store.find_trial(trial.fingerprint));
  EXPECT_TRUE(store.load_trial(id)->transient);
  trial.transient = false;  // the words alone make no difference
  trial.reason = "the compiler crashed";
  EXPECT_EQ(store.find_trial(trial.fingerprint).has_value(), false);
  const std::int64_t lasting = store.add_trial(trial);
  EXPECT_EQ(store.find_trial(trial.fingerprint)->id, lasting);
}

TEST_F(StoreTest, TheNearestTrialIsTheNewestOfTheSameVariantWhateverItDependedOn) {
  Store store(file(), Store::Mode::kWrite);
  const std::int64_t session = store.add_session(session_of("2026-11-29T14:03:05Z"));
  model::ProblemRecord problem = record_of(session, problem_of("rmsnorm", 4));
  problem.id = store.add_problem(problem);
  model::TrialRecord trial = trial_of(problem, variant_of(256), 10.0);
  trial.date = "2026-11-29T14:00:00Z";
  store.add_trial(trial);
  trial.date = "2026-11-29T15:00:00Z";
  trial.fingerprint = "another";
  const std::int64_t second = store.add_trial(trial);
  trial.is_final = true;
  trial.date = "2026-11-29T16:00:00Z";
  store.add_trial(trial);
  const auto nearest = store.nearest_trial("rmsnorm", trial.problem_text, trial.variant.text());
  ASSERT_TRUE(nearest);
  EXPECT_EQ(nearest->id, second);
  EXPECT_FALSE(store.nearest_trial("rmsnorm", trial.problem_text, variant_of(512).text()));
}

TEST_F(StoreTest, ARelinkedTrialCountsForBothProblemsOnceEach) {
  Store store(file(), Store::Mode::kWrite);
  const std::int64_t first = store.add_session(session_of("2026-11-28T00:00:00Z"));
  model::ProblemRecord old_problem = record_of(first, problem_of("rmsnorm", 4));
  old_problem.id = store.add_problem(old_problem);
  const std::int64_t trial = store.add_trial(trial_of(old_problem, variant_of(256), 10.0));
  const std::int64_t second = store.add_session(session_of("2026-11-29T00:00:00Z"));
  model::ProblemRecord problem = record_of(second, problem_of("rmsnorm", 4));
  problem.id = store.add_problem(problem);
  store.link_trial(problem.id, trial);
  store.link_trial(problem.id, trial);
  const model::Dataset dataset = store.load({});
  ASSERT_EQ(dataset.trials.size(), 2U);
  EXPECT_EQ(dataset.trials[0].problem, old_problem.id);
  EXPECT_EQ(dataset.trials[1].problem, problem.id);
  EXPECT_EQ(dataset.trials[1].id, trial);
  EXPECT_EQ(dataset.trials[1].session, first);
}

TEST_F(StoreTest, ABatchIsKeptWholeOrNotAtAll) {
  Store store(file(), Store::Mode::kWrite);
  const std::int64_t session = store.add_session(session_of("2026-11-29T14:03:05Z"));
  model::ProblemRecord problem = record_of(session, problem_of("rmsnorm", 4));
  problem.id = store.add_problem(problem);
  store.in_one_transaction([&] {
    store.add_trial(trial_of(problem, variant_of(256), 1.0));
    store.add_trial(trial_of(problem, variant_of(512), 2.0));
  });
  EXPECT_EQ(store.load({}).trials.size(), 2U);
  const auto fails = [&] {
    store.add_trial(trial_of(problem, variant_of(1024), 3.0));
    throw Error(ErrorKind::kInterrupted, "stopped");
  };
  EXPECT_EQ(thrown_by([&] { store.in_one_transaction(fails); }).message(), "stopped");
  EXPECT_EQ(store.load({}).trials.size(), 2U);
  store.add_trial(trial_of(problem, variant_of(1024), 3.0));
  EXPECT_EQ(store.load({}).trials.size(), 3U);
}

TEST_F(StoreTest, WhatOneStoreWroteAnotherReads) {
  std::int64_t id = 0;
  {
    Store store(file("odd ?#% name.db"), Store::Mode::kWrite);
    const std::int64_t session = store.add_session(session_of("2026-11-29T14:03:05Z"));
    model::ProblemRecord problem = record_of(session, problem_of("rmsnorm", 4));
    problem.id = store.add_problem(problem);
    id = store.add_trial(trial_of(problem, variant_of(256), 1.5));
  }
  Store store(file("odd ?#% name.db"), Store::Mode::kRead);
  EXPECT_EQ(store.path(), file("odd ?#% name.db"));
  EXPECT_EQ(store.load_trial(id)->timing.time_us, 1.5);
}

TEST_F(StoreTest, TheDevicesOfATargetAreNamedOnceEach) {
  Store store(file(), Store::Mode::kWrite);
  for (const auto& [name, target] : {std::pair("NVIDIA H200", "sm_90"), std::pair("NVIDIA H100", "sm_90"),
                                     std::pair("NVIDIA H200", "sm_90"), std::pair("NVIDIA B200", "sm_100")}) {
    model::SessionRecord session = session_of("2026-11-29T14:03:05Z", name);
    session.device.target = target;
    store.add_session(session);
  }
  EXPECT_EQ(store.devices_of("sm_90"), (std::vector<std::string>{"NVIDIA H100", "NVIDIA H200"}));
  EXPECT_EQ(store.devices_of("sm_100"), (std::vector<std::string>{"NVIDIA B200"}));
  EXPECT_TRUE(store.devices_of("sm_80").empty());
}

TEST_F(StoreTest, TrafficCanBeAddedToATrialAfterwardsAndChangesNothingElse) {
  Store store(file(), Store::Mode::kWrite);
  model::ProblemRecord problem = record_of(store.add_session(session_of("2026-11-29T00:00:00Z")), problem_of("a", 4));
  problem.id = store.add_problem(problem);
  const std::int64_t first = store.add_trial(trial_of(problem, variant_of(512), 9.0));
  const std::int64_t second = store.add_trial(trial_of(problem, variant_of(1024), 10.0));
  store.set_traffic(second, {67125000, 66990000, ""});
  const std::optional<model::TrialRecord> other = store.load_trial(first);
  const std::optional<model::TrialRecord> counted = store.load_trial(second);
  ASSERT_TRUE(other && counted);
  EXPECT_EQ(other->traffic.dram_read, -1);
  EXPECT_EQ(counted->traffic.dram_read, 67125000);
  EXPECT_EQ(counted->traffic.dram_written, 66990000);
  EXPECT_EQ(counted->timing.time_us, 10.0);
  store.set_traffic(second, {-1, -1, "for administrators only"});
  EXPECT_EQ(store.load_trial(second)->traffic.dram_read, -1);
  EXPECT_EQ(store.load_trial(second)->traffic.why_not, "for administrators only");
}

}  // namespace
}  // namespace ktune::store
