#include "store/fixture.h"
#include "store/store.h"

namespace ktune::store {
namespace {

class MergeTest : public StoreTest {
 protected:
  /// One session with one problem and trials of these times.
  static model::ProblemRecord fill(Store& store, const std::string& date, const std::vector<double>& times) {
    model::ProblemRecord record = record_of(store.add_session(session_of(date)), problem_of("rmsnorm", 4));
    record.id = store.add_problem(record);
    for (std::size_t i = 0; i < times.size(); ++i) store.add_trial(trial_of(record, variant_of(256 << i), times[i]));
    return record;
  }
  static std::vector<double> times_of(Store& store) {
    std::vector<double> times;
    for (const auto& trial : store.load({}).trials) times.push_back(trial.timing.time_us);
    return times;
  }
};

using Times = std::vector<double>;

TEST_F(MergeTest, CopiesSessionsThatAreMissingWithEverythingInThemOnce) {
  Store a(file("a.db"), Store::Mode::kWrite);
  Store b(file("b.db"), Store::Mode::kWrite);
  fill(a, "2026-11-27T00:00:00Z", {1.0});
  fill(b, "2026-11-28T00:00:00Z", {2.0, 3.0});
  fill(b, "2026-11-29T00:00:00Z", {4.0});
  EXPECT_EQ(a.merge_from(file("b.db")), 2);
  EXPECT_EQ(times_of(a), (Times{1.0, 2.0, 3.0, 4.0}));
  EXPECT_EQ(a.merge_from(file("b.db")), 0);
  EXPECT_EQ(times_of(a), (Times{1.0, 2.0, 3.0, 4.0}));
  const model::Dataset dataset = a.load({.with_samples = true});
  ASSERT_EQ(dataset.sessions.size(), 3U);
  EXPECT_EQ(dataset.sessions[2].date, "2026-11-29T00:00:00Z");
  EXPECT_EQ(dataset.trials[3].session, dataset.sessions[2].id);
  EXPECT_EQ(dataset.trials[3].problem, dataset.problems[2].id);
  EXPECT_EQ(dataset.trials[3].samples.time_us, (Times{4.0, 3.5, 4.5}));
  EXPECT_EQ(b.merge_from(file("a.db")), 1);
  EXPECT_EQ(b.load({}).trials.size(), 4U);
  EXPECT_EQ(times_of(b), (Times{2.0, 3.0, 4.0, 1.0}));
}

TEST_F(MergeTest, KeepsReusedTrialsTied) {
  Store a(file("a.db"), Store::Mode::kWrite);
  Store b(file("b.db"), Store::Mode::kWrite);
  fill(a, "2026-11-20T00:00:00Z", {9.0});
  const model::ProblemRecord first = fill(b, "2026-11-28T00:00:00Z", {2.0});
  EXPECT_EQ(a.merge_from(file("b.db")), 1);
  const model::ProblemRecord second = fill(b, "2026-11-29T00:00:00Z", {});
  b.link_trial(second.id, b.load({}).trials[0].id);
  EXPECT_EQ(a.merge_from(file("b.db")), 1);
  const model::Dataset dataset = a.load({});
  EXPECT_EQ(times_of(a), (Times{9.0, 2.0, 2.0}));
  EXPECT_EQ(dataset.trials[1].id, dataset.trials[2].id);
  EXPECT_EQ(dataset.trials[2].problem, dataset.problems[2].id);
  EXPECT_EQ(dataset.trials[2].session, dataset.sessions[1].id);
  EXPECT_EQ(first.problem.text(), dataset.trials[2].problem_text);
}

TEST_F(MergeTest, ASessionCopiedWhileItRanIsCompletedLater) {
  Store a(file("a.db"), Store::Mode::kWrite);
  Store b(file("b.db"), Store::Mode::kWrite);
  model::ProblemRecord record = fill(b, "2026-11-28T00:00:00Z", {2.0});
  EXPECT_EQ(a.merge_from(file("b.db")), 1);
  EXPECT_FALSE(a.load({}).sessions[0].complete);
  b.add_trial(trial_of(record, variant_of(4096), 3.0));
  record.not_visited = 77;
  b.update_problem(record);
  b.complete_session(record.session);
  EXPECT_EQ(a.merge_from(file("b.db")), 0);
  EXPECT_EQ(times_of(a), (Times{2.0, 3.0}));
  EXPECT_TRUE(a.load({}).sessions[0].complete);
  EXPECT_EQ(a.load({}).problems[0].not_visited, 77);
}

TEST_F(MergeTest, RefusesItselfAMissingFileAndWhatIsNoDatabase) {
  Store a(file("a.db"), Store::Mode::kWrite);
  EXPECT_EQ(thrown_by([&] { a.merge_from(file("a.db")); }).kind(), ErrorKind::kUsage);
  EXPECT_EQ(thrown_by([&] { a.merge_from(folder_.string() + "/./a.db"); }).kind(), ErrorKind::kUsage);
  const Error missing = thrown_by([&] { a.merge_from(file("b.db")); });
  EXPECT_EQ(missing.kind(), ErrorKind::kNoData);
  EXPECT_EQ(missing.message(), "no database at " + file("b.db") + " yet");
  EXPECT_FALSE(std::filesystem::exists(file("b.db")));
}

}  // namespace
}  // namespace ktune::store
