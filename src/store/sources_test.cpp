#include <SQLiteCpp/SQLiteCpp.h>

#include "store/fixture.h"
#include "store/store.h"

namespace ktune::store {
namespace {

const model::SourceBundle kBundle{"configs/op.toml", {{"configs/op.toml", "[op]\n"}, {"kernels/op.cu", "// \u00b5\n"}}};

model::ProcessNoise noise_of(const std::string& date, double constant_us) {
  return {"NVIDIA H200", "580.159.04", 700.0, "cold", constant_us, 0.0003, 12, 8, date, "abc123"};
}

model::DeviceFacts h200() {
  model::DeviceFacts facts;
  facts.name = "NVIDIA H200";
  facts.driver = "580.159.04";
  facts.power_limit_w = 700.0;
  return facts;
}

TEST_F(StoreTest, KeepsASourceOnceForEachPairOfHashes) {
  Store store(file(), Store::Mode::kWrite);
  store.add_source("spec", "source-f32", kBundle);
  store.add_source("spec", "source-bf16", kBundle);
  store.add_source("spec", "source-f32", {"other.toml", {}});  // what is there stays
  const auto found = store.source("spec", "source-f32");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->spec, kBundle.spec);
  EXPECT_EQ(found->files, kBundle.files);
  EXPECT_TRUE(store.source("spec", "source-bf16").has_value());
  EXPECT_FALSE(store.source("other", "source-f32").has_value());
  EXPECT_EQ(SQLite::Database(file()).execAndGet("SELECT count(*) FROM bundle WHERE spec = 'configs/op.toml'").getInt(),
            1);
}

TEST_F(StoreTest, AnswersTheNewestNoiseOfThisDeviceDriverLimitAndCacheState) {
  Store store(file(), Store::Mode::kWrite);
  EXPECT_FALSE(store.noise(h200(), model::CacheState::kCold).has_value());
  store.add_noise(noise_of("2026-11-29T00:00:00Z", 0.06));
  store.add_noise(noise_of("2026-11-28T00:00:00Z", 0.09));
  const auto found = store.noise(h200(), model::CacheState::kCold);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->constant_us, 0.06);
  EXPECT_EQ(found->relative, 0.0003);
  EXPECT_EQ(found->kernels, 12);
  EXPECT_DOUBLE_EQ(found->sd_us(100.0), 0.09);
  EXPECT_FALSE(store.noise(h200(), model::CacheState::kDirty).has_value());
  model::DeviceFacts other = h200();
  other.power_limit_w = 600.0;
  EXPECT_FALSE(store.noise(other, model::CacheState::kCold).has_value());
  other = h200();
  other.driver = "590.1";
  EXPECT_FALSE(store.noise(other, model::CacheState::kCold).has_value());
}

TEST_F(StoreTest, ListsTheNewestWinnerOfEachProblem) {
  Store store(file(), Store::Mode::kWrite);
  const auto add = [&](const std::string& date, const std::string& device, std::int64_t rows, std::int64_t block) {
    model::ProblemRecord record = record_of(store.add_session(session_of(date, device)), problem_of("rmsnorm", rows));
    record.id = store.add_problem(record);
    if (block > 0) record.winner = variant_of(block);
    store.update_problem(record);
    return record.session;
  };
  const std::int64_t first = add("2026-11-27T00:00:00Z", "NVIDIA H200", 4, 256);
  add("2026-11-28T00:00:00Z", "NVIDIA H200", 4, 512);
  add("2026-11-29T00:00:00Z", "NVIDIA H200", 4, 0);  // named none
  add("2026-11-29T00:00:00Z", "NVIDIA H200", 8, 1024);
  add("2026-11-29T00:00:00Z", "NVIDIA A100", 16, 2048);
  const auto newest = store.winner_records("NVIDIA H200", 0);
  ASSERT_EQ(newest.size(), 2U);
  EXPECT_EQ(newest[0].winner, variant_of(512));
  EXPECT_EQ(newest[1].winner, variant_of(1024));
  const auto of_first = store.winner_records("NVIDIA H200", first);
  ASSERT_EQ(of_first.size(), 1U);
  EXPECT_EQ(of_first[0].winner, variant_of(256));
}

TEST_F(StoreTest, MergesSourcesAndNoiseOnce) {
  Store mine(file("a.db"), Store::Mode::kWrite);
  {
    Store other(file("b.db"), Store::Mode::kWrite);
    other.add_source("spec", "source", kBundle);
    other.add_noise(noise_of("2026-11-29T00:00:00Z", 0.06));
  }
  mine.merge_from(file("b.db"));
  mine.merge_from(file("b.db"));
  EXPECT_EQ(mine.source("spec", "source")->files, kBundle.files);
  EXPECT_EQ(mine.noise(h200(), model::CacheState::kCold)->constant_us, 0.06);
  EXPECT_EQ(SQLite::Database(file("a.db")).execAndGet("SELECT count(*) FROM process_noise").getInt(), 1);
}

}  // namespace
}  // namespace ktune::store
