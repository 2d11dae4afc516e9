#include "probe/roofline_mixes.h"

#include <gtest/gtest.h>

#include "report/fits.h"

namespace ktune::probe {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

model::DeviceFacts h200() {
  model::DeviceFacts facts;
  facts.kind = "cuda";
  facts.sm = 90;
  facts.sm_count = 132;
  facts.l2_bytes = 60 * kMiB;
  facts.smem_optin = 232448;
  facts.registers_per_sm = 65536;
  facts.memory_bytes = 150'000'000'000;
  return facts;
}

TEST(Ladder, ReachesEightTimesL2) {
  model::DeviceFacts facts = h200();
  EXPECT_EQ(roofline_ladder(facts, false),
            (std::vector<std::int64_t>{kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB, 256 * kMiB, 1024 * kMiB}));
  EXPECT_EQ(roofline_ladder(facts, true), (std::vector<std::int64_t>{kMiB, 16 * kMiB, 256 * kMiB, 480 * kMiB}));
  facts.l2_bytes = 192 * kMiB;
  EXPECT_EQ(roofline_ladder(facts, false).back(), 1536 * kMiB);
  facts.kind = "cpu";
  EXPECT_EQ(roofline_ladder(facts, false).back(), 64 * kMiB);
}

TEST(Mixes, AreWhatTheirNamesSayInAFewVariantsEach) {
  const model::DeviceFacts facts = h200();
  const auto ladder = roofline_ladder(facts, false);
  const auto work = roofline_work(ladder);
  ASSERT_EQ(work.size(), roofline_mixes().size());
  for (std::size_t i = 0; i < work.size(); ++i) {
    const MixRow& mix = roofline_mixes()[i];
    SCOPED_TRACE(std::string(mix.name) + " by " + std::string(mix.op));
    ASSERT_EQ(work[i].problems.size(), ladder.size());
    const auto prepared = sweep::prepare({work[i]}, facts, 0);
    for (std::size_t rung = 0; rung < ladder.size(); ++rung) {
      const model::Cost& cost = prepared[rung]->cost;
      EXPECT_EQ(cost.launches, mix.launches);
      EXPECT_EQ(report::mix_name(static_cast<double>(cost.bytes_read) / static_cast<double>(cost.bytes())), mix.name);
      EXPECT_NEAR(static_cast<double>(cost.bytes()), static_cast<double>(ladder[rung]),
                  0.13 * static_cast<double>(ladder[rung]));
      EXPECT_GE(prepared[rung]->space.size(), 4);
      EXPECT_LE(prepared[rung]->space.size(), 32);
    }
  }
}

}  // namespace
}  // namespace ktune::probe
