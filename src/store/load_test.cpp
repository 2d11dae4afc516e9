#include "store/fixture.h"
#include "store/store.h"

namespace ktune::store {
namespace {

class LoadTest : public StoreTest {
 protected:
  std::int64_t session(const std::string& date, const std::string& device = "NVIDIA H200",
                       const std::string& kind = "cuda") {
    return store().add_session(session_of(date, device, kind));
  }
  model::ProblemRecord problem(std::int64_t session, const std::string& op, std::int64_t rows,
                               const std::string& dtype = "bf16") {
    model::ProblemRecord record = record_of(session, problem_of(op, rows, dtype));
    record.id = store().add_problem(record);
    return record;
  }
  /// A problem with one measured trial in the given cache state.
  std::int64_t measured(std::int64_t session, const std::string& op, std::int64_t rows,
                        model::CacheState state = model::CacheState::kCold) {
    const model::ProblemRecord record = problem(session, op, rows);
    model::TrialRecord trial = trial_of(record, variant_of(256), 10.0);
    trial.samples.cache_state = state;
    store().add_trial(trial);
    return record.id;
  }
  Store& store() {
    if (!store_) store_.emplace(file(), Store::Mode::kWrite);
    return *store_;
  }
  std::vector<std::int64_t> latest(const Filter& filter = {}) {
    std::vector<std::int64_t> ids;
    for (const auto& record : store().load_latest(filter).problems) ids.push_back(record.id);
    return ids;
  }
  std::vector<std::int64_t> all(const Filter& filter) {
    std::vector<std::int64_t> ids;
    for (const auto& record : store().load(filter).problems) ids.push_back(record.id);
    return ids;
  }

  std::optional<Store> store_;
};

using Ids = std::vector<std::int64_t>;

TEST_F(LoadTest, FiltersByOpDtypeDeviceDateAndSession) {
  const auto first = session("2026-11-27T10:00:00Z");
  const auto second = session("2026-11-29T10:00:00Z", "AMD EPYC 9654", "cpu");
  const auto a = problem(first, "rmsnorm", 4).id;
  const auto b = problem(first, "copy", 4, "f32").id;
  const auto c = problem(second, "rmsnorm", 4, "f32").id;
  EXPECT_EQ(all({}), (Ids{a, b, c}));
  EXPECT_EQ(all({.ops = {"rmsnorm"}}), (Ids{a, c}));
  EXPECT_EQ(all({.ops = {"rmsnorm", "copy"}, .dtypes = {"f32"}}), (Ids{b, c}));
  EXPECT_EQ(all({.device = "h200"}), (Ids{a, b}));
  EXPECT_EQ(all({.device = "CPU"}), (Ids{c}));
  EXPECT_EQ(all({.device = "epyc"}), (Ids{c}));
  EXPECT_EQ(all({.since = "2026-11-28"}), (Ids{c}));
  EXPECT_EQ(all({.since = "2026-11-29T10:00:00Z"}), (Ids{c}));
  EXPECT_EQ(all({.since = "2026-11-29T10:00:01Z"}), (Ids{}));
  EXPECT_EQ(all({.session = first}), (Ids{a, b}));
  EXPECT_EQ(store().load({.device = "epyc"}).sessions.size(), 1U);
}

TEST_F(LoadTest, ADateThatIsNoneIsRefused) {
  for (const std::string since : {"yesterday", "29.11.2026", "2026-11-29 10:00", "20", "2026-1-1"}) {
    const Error error = thrown_by([&] { store().load({.since = since}); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << since;
    EXPECT_EQ(error.message(), "'" + since + "' is no date");
  }
}

TEST_F(LoadTest, TheNewestSessionThatHasAProblemWinsByDateNotByPlaceInTheFile) {
  const auto newer = session("2026-11-29T10:00:00Z");
  const auto older = session("2026-11-27T10:00:00Z");
  const auto kept = measured(newer, "rmsnorm", 4);
  measured(older, "rmsnorm", 4);
  const auto only_old = measured(older, "rmsnorm", 8);
  EXPECT_EQ(latest(), (Ids{kept, only_old}));
}

TEST_F(LoadTest, FiltersApplyBeforeTheNewestIsChosen) {
  const auto older = session("2026-11-27T10:00:00Z", "NVIDIA H200");
  const auto newer = session("2026-11-29T10:00:00Z", "NVIDIA A100");
  const auto h200 = measured(older, "rmsnorm", 4);
  const auto a100 = measured(newer, "rmsnorm", 4);
  EXPECT_EQ(latest(), (Ids{h200, a100}));
  EXPECT_EQ(latest({.device = "h200"}), (Ids{h200}));
  EXPECT_EQ(latest({.session = older}), (Ids{h200}));
}

TEST_F(LoadTest, EachWayOfTimingKeepsItsNewestSession) {
  const auto first = session("2026-11-27T10:00:00Z");
  const auto second = session("2026-11-28T10:00:00Z");
  const auto third = session("2026-11-29T10:00:00Z");
  measured(first, "rmsnorm", 4, model::CacheState::kCold);
  const auto cold = measured(second, "rmsnorm", 4, model::CacheState::kCold);
  const auto dirty = measured(third, "rmsnorm", 4, model::CacheState::kDirty);
  EXPECT_EQ(latest(), (Ids{cold, dirty}));
}

TEST_F(LoadTest, ASessionThatTriedNothingHidesNothingAndOneWhereAllFailedHidesOlderOnes) {
  const auto first = session("2026-11-27T10:00:00Z");
  const auto second = session("2026-11-28T10:00:00Z");
  const auto third = session("2026-11-29T10:00:00Z");
  measured(first, "rmsnorm", 4);
  const model::ProblemRecord failed = problem(second, "rmsnorm", 4);
  store().add_trial(failure_of(failed, variant_of(256), model::Outcome::kCompileFailed, "no"));
  problem(third, "rmsnorm", 4);
  EXPECT_EQ(latest(), (Ids{failed.id}));
}

TEST_F(LoadTest, CountsEveryTrialButLoadsOnlyFinalsTheDefaultAndTheFastest) {
  const auto id = session("2026-11-27T10:00:00Z");
  const model::ProblemRecord record = problem(id, "rmsnorm", 4);
  const auto add = [&](const model::Variant& variant, double time_us, bool is_final) {
    model::TrialRecord trial = trial_of(record, variant, time_us);
    trial.is_final = is_final;
    return store().add_trial(trial);
  };
  const auto slow_default = add(variant_of(1024), 30.0, false);
  add(variant_of(256), 20.0, false);
  const auto fastest = add(variant_of(512), 10.0, false);
  add(variant_of(2048), 15.0, false);
  store().add_trial(failure_of(record, variant_of(64), model::Outcome::kWrongResult, "wrong"));
  const auto final_a = add(variant_of(512), 12.0, true);
  const auto final_b = add(variant_of(2048), 11.0, true);
  const model::Dataset dataset = store().load_latest({});
  ASSERT_EQ(dataset.problems.size(), 1U);
  const std::map<std::string, std::int64_t> outcomes{{"Measured", 4}, {"WrongResult", 1}};
  EXPECT_EQ(dataset.problems[0].outcomes, outcomes);
  Ids ids;
  for (const auto& trial : dataset.trials) ids.push_back(trial.id);
  EXPECT_EQ(ids, (Ids{slow_default, fastest, final_a, final_b}));
  EXPECT_EQ(dataset.sessions.size(), 1U);
}

TEST_F(LoadTest, AReusedTrialGivesTheNewProblemItsTiming) {
  const auto first = session("2026-11-27T10:00:00Z");
  const model::ProblemRecord old_record = problem(first, "rmsnorm", 4);
  const auto trial = store().add_trial(trial_of(old_record, variant_of(256), 10.0));
  const auto second = session("2026-11-28T10:00:00Z");
  const model::ProblemRecord record = problem(second, "rmsnorm", 4);
  store().link_trial(record.id, trial);
  const model::Dataset dataset = store().load_latest({});
  ASSERT_EQ(dataset.problems.size(), 1U);
  EXPECT_EQ(dataset.problems[0].id, record.id);
  ASSERT_EQ(dataset.trials.size(), 1U);
  EXPECT_EQ(dataset.trials[0].id, trial);
  EXPECT_EQ(dataset.trials[0].problem, record.id);
  EXPECT_EQ(dataset.problems[0].outcomes.at("Measured"), 1);
}

}  // namespace
}  // namespace ktune::store
