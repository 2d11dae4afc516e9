#include "verdict/static_rules.h"

#include <gtest/gtest.h>

namespace ktune::verdict {
namespace {

const Multiprocessor kHopper = multiprocessor_of(90).value();

TEST(BlocksThatFit, AreThoseOfNvidiasCalculator) {
  // By blocks, threads, registers, shared memory.
  EXPECT_EQ(blocks_that_fit(kHopper, 16, 0, 32), 32);
  EXPECT_EQ(blocks_that_fit(kHopper, 32, 0, 256), 8);
  EXPECT_EQ(blocks_that_fit(kHopper, 32, 0, 1024), 2);
  EXPECT_EQ(blocks_that_fit(kHopper, 33, 0, 256), 6);  // 40 a thread are given: 1280 a warp, 12 warps a partition
  EXPECT_EQ(blocks_that_fit(kHopper, 40, 0, 256), 6);
  EXPECT_EQ(blocks_that_fit(kHopper, 64, 0, 256), 4);
  EXPECT_EQ(blocks_that_fit(kHopper, 128, 0, 256), 2);
  EXPECT_EQ(blocks_that_fit(kHopper, 255, 0, 256), 1);
  EXPECT_EQ(blocks_that_fit(kHopper, 168, 0, 96), 4);   // 3 warps a block, 12 a multiprocessor
  EXPECT_EQ(blocks_that_fit(kHopper, 255, 0, 288), 0);  // 2 warps a partition: 8, and the block has 9
  EXPECT_EQ(blocks_that_fit(kHopper, 65, 0, 1024), 0);
  EXPECT_EQ(blocks_that_fit(kHopper, 16, 0, 1024), 2);
  EXPECT_EQ(blocks_that_fit(kHopper, 16, 0, 1025), 0);
  EXPECT_EQ(blocks_that_fit(kHopper, 16, 227 << 10, 128), 1);
  EXPECT_EQ(blocks_that_fit(kHopper, 16, (228 << 10) - 1023, 128), 0);
  EXPECT_EQ(blocks_that_fit(kHopper, 16, 48 << 10, 128), 4);
  EXPECT_EQ(blocks_that_fit(kHopper, 16, 113 << 10, 128), 2);
  EXPECT_EQ(blocks_that_fit(kHopper, 16, (113 << 10) + 1, 128), 1);
}

TEST(BlocksThatFit, DependOnTheArchitecture) {
  EXPECT_EQ(blocks_that_fit(multiprocessor_of(80).value(), 16, 32 << 10, 128), 4);
  EXPECT_EQ(blocks_that_fit(multiprocessor_of(100).value(), 16, 32 << 10, 128), 6);
  EXPECT_EQ(blocks_that_fit(multiprocessor_of(120).value(), 16, 32 << 10, 128), 3);
  EXPECT_EQ(blocks_that_fit(multiprocessor_of(120).value(), 16, 0, 32), 24);
  EXPECT_EQ(blocks_that_fit(multiprocessor_of(120).value(), 16, 0, 256), 6);
  EXPECT_FALSE(multiprocessor_of(75));
}

/// 256 threads, 40 registers, 100 instructions, of them 8 wide loads and 4 wide stores.
StaticSide side(const std::string& hash = "base") {
  StaticSide side;
  side.code_hash = hash;
  StaticKernel kernel;
  kernel.name = "scale";
  kernel.threads = 256;
  kernel.resources = {40, 0, 0, 0, 0};
  kernel.sass.instructions = 100;
  kernel.sass.classes = {{"global", 12}, {"float", 50}, {"other", 38}};
  kernel.sass.widths = {{"LDG", {{128, 8}}}, {"STG", {{128, 4}}}};
  side.kernels = {kernel};
  return side;
}

StaticJudgement judge(const StaticSide& candidate, const StaticSide& base = side(), double max_instructions = 10.0) {
  return judge_static(base, candidate, kHopper, {max_instructions});
}

TEST(StaticGate, PassesTheSameMachineCode) {
  StaticSide candidate = side();
  candidate.kernels[0].resources.registers = 99;  // not looked at
  const auto judgement = judge(candidate);
  EXPECT_EQ(judgement.verdict, Verdict::kPass);
  EXPECT_TRUE(judgement.identical);
  EXPECT_EQ(judgement.reason, "same machine code");
  EXPECT_TRUE(judgement.changes.empty());
}

TEST(StaticGate, ComparesTheSameCodeThatIsLaunchedInAnotherWay) {
  StaticSide candidate = side();
  candidate.kernels[0].dynamic_shared_bytes = 100 << 10;
  const auto judgement = judge(candidate);
  EXPECT_EQ(judgement.verdict, Verdict::kRegressed);
  EXPECT_EQ(judgement.reason, "shared memory 0 → 102400 B: 6 → 2 blocks fit a multiprocessor");
}

TEST(StaticGate, DoesNotTakeUnknownCodeForTheSame) {
  const auto judgement = judge(side(""), side(""));
  EXPECT_EQ(judgement.verdict, Verdict::kPass);
  EXPECT_FALSE(judgement.identical);
  EXPECT_EQ(judgement.reason, "other machine code, the same figures");
}

TEST(StaticGate, FindsSpillsThatAppearOrGrow) {
  StaticSide candidate = side("new");
  candidate.kernels[0].resources.spill_store_bytes = 16;
  candidate.kernels[0].resources.spill_load_bytes = 20;
  auto judgement = judge(candidate);
  EXPECT_EQ(judgement.verdict, Verdict::kRegressed);
  EXPECT_EQ(judgement.reason, "spills 0 → 16 B stored, 0 → 20 B loaded");
  StaticSide spilling = candidate;
  spilling.code_hash = "newer";
  spilling.kernels[0].resources.spill_load_bytes = 24;
  EXPECT_EQ(judge(spilling, candidate).verdict, Verdict::kRegressed);
  spilling = candidate;
  spilling.code_hash = "newer";
  spilling.kernels[0].resources.spill_store_bytes = 20;
  EXPECT_EQ(judge(spilling, candidate).verdict, Verdict::kRegressed);
  judgement = judge(side(), candidate);
  EXPECT_EQ(judgement.verdict, Verdict::kPass);
  EXPECT_EQ(judgement.reason, "spills 16 → 0 B stored, 20 → 0 B loaded");
}

TEST(StaticGate, FindsRegistersThatCostBlocks) {
  StaticSide candidate = side("new");
  candidate.kernels[0].resources.registers = 41;
  const auto judgement = judge(candidate);
  EXPECT_EQ(judgement.verdict, Verdict::kRegressed);
  EXPECT_EQ(judgement.reason, "registers 40 → 41: 6 → 5 blocks fit a multiprocessor");
  const std::vector<Change> changes{{"registers", "40", "41"}, {"blocks per multiprocessor", "6", "5"}};
  EXPECT_EQ(judgement.changes, changes);
}

TEST(StaticGate, NotesRegistersThatCostNothing) {
  StaticSide base = side();
  base.kernels[0].resources.registers = 36;
  const auto judgement = judge(side("new"), base);
  EXPECT_EQ(judgement.verdict, Verdict::kPass);
  EXPECT_EQ(judgement.reason, "registers 36 → 40, still 6 blocks");
}

TEST(StaticGate, ComparesThreadsWhereBlocksHaveOtherSizes) {
  StaticSide candidate = side("new");
  candidate.kernels[0].threads = 512;
  candidate.kernels[0].dynamic_shared_bytes = 1024;
  EXPECT_EQ(judge(candidate).verdict, Verdict::kPass) << judge(candidate).reason;  // 3 × 512 = 6 × 256
  candidate.kernels[0].dynamic_shared_bytes = 80 << 10;
  EXPECT_EQ(judge(candidate).verdict, Verdict::kRegressed);  // 2 × 512
}

TEST(StaticGate, FindsLaunchesThatCannotRun) {
  StaticSide candidate = side();  // the same code
  candidate.kernels[0].resources.registers = candidate.kernels[0].threads = 32;
  EXPECT_EQ(judge(candidate).verdict, Verdict::kPass);
  candidate.kernels[0].threads = 2048;
  const auto judgement = judge(candidate);
  EXPECT_EQ(judgement.verdict, Verdict::kRegressed);
  EXPECT_EQ(judgement.reason, "registers 40 → 32, threads per block 256 → 2048: 6 → 0 blocks fit a multiprocessor");
  StaticSide other = candidate;
  other.kernels[0].threads = 4096;  // nor could base
  EXPECT_EQ(judge(other, candidate).verdict, Verdict::kRegressed);
}

TEST(StaticGate, SaysNothingOfWhatLaunchesNothing) {
  StaticSide nothing = side();
  nothing.kernels.clear();
  for (const auto& judgement : {judge(nothing, nothing), judge(nothing), judge(side(), nothing)}) {
    EXPECT_EQ(judgement.verdict, Verdict::kNoData);
    EXPECT_EQ(judgement.reason, "nothing is launched");
  }
}

TEST(StaticGate, FindsAccessesThatNarrow) {
  StaticSide candidate = side("new");
  candidate.kernels[0].sass.widths = {{"LDG", {{32, 8}, {128, 6}}}, {"STG", {{128, 4}}}};
  EXPECT_EQ(judge(candidate).verdict, Verdict::kRegressed);
  EXPECT_EQ(judge(candidate).reason,
            "128-bit global accesses: 12 of 12 → 10 of 18 (of all global memory instructions)");
  candidate.kernels[0].sass.widths = {{"LDG", {{64, 8}}}, {"STG", {{64, 4}}}};
  EXPECT_EQ(judge(candidate).verdict, Verdict::kRegressed);
  // A path of scalar accesses that both have does not hide that the wide ones are gone.
  StaticSide base = side();
  base.kernels[0].sass.widths = {{"LDG", {{16, 4}, {128, 8}}}};
  candidate.kernels[0].sass.widths = {{"LDG", {{16, 4}}}};
  EXPECT_EQ(judge(candidate, base).verdict, Verdict::kRegressed);
  // Where base's widest is 64 bits, that is what must not narrow.
  base.kernels[0].sass.widths = {{"LDG", {{64, 8}}}};
  candidate.kernels[0].sass.widths = {{"LDG", {{32, 16}}}};
  EXPECT_EQ(judge(candidate, base).reason,
            "64-bit global accesses: 8 of 8 → 0 of 16 (of all global memory instructions)");
}

TEST(StaticGate, LetsOtherCountsOfAccessesBe) {
  StaticSide candidate = side("new");
  candidate.kernels[0].sass.widths = {{"LDG", {{32, 2}, {128, 8}}}, {"STG", {{128, 4}}}};
  EXPECT_EQ(judge(candidate).verdict, Verdict::kPass) << "one more scalar";
  EXPECT_EQ(judge(candidate).reason,
            "128-bit global accesses: 12 of 12 → 12 of 14 (of all global memory instructions)");
  candidate.kernels[0].sass.widths = {{"LDG", {{128, 4}}}, {"STG", {{128, 2}}}};
  EXPECT_EQ(judge(candidate).verdict, Verdict::kPass) << "unrolled less";
  candidate.kernels[0].sass.widths = {{"LDG", {{256, 4}}}, {"STG", {{256, 2}}}};
  EXPECT_EQ(judge(candidate).verdict, Verdict::kPass) << "wider";
  candidate = side("new");
  candidate.kernels[0].sass.widths["LDS"] = {{32, 100}};
  EXPECT_EQ(judge(candidate).verdict, Verdict::kPass) << "shared memory";
  EXPECT_EQ(judge(candidate).changes, (std::vector<Change>{{"LDS.32", "0", "100"}}));
}

TEST(StaticGate, FindsMoreInstructionsThanAreLetBy) {
  StaticSide candidate = side("new");
  candidate.kernels[0].sass.instructions = 110;
  EXPECT_EQ(judge(candidate).verdict, Verdict::kPass);
  EXPECT_EQ(judge(candidate).reason, "instructions 100 → 110 (+10.0 %)");
  candidate.kernels[0].sass.instructions = 111;
  EXPECT_EQ(judge(candidate).verdict, Verdict::kRegressed);
  EXPECT_EQ(judge(candidate).reason, "instructions 100 → 111 (+11.0 %, limit 10 %)");
  EXPECT_EQ(judge(candidate, side(), 11.0).verdict, Verdict::kPass);
}

TEST(StaticGate, SaysWhatMoreInstructionsMayHaveBought) {
  StaticSide base = side(), candidate = side("new");
  base.kernels[0].sass.widths = {{"LDG", {{32, 2}}}, {"STG", {{32, 1}}}};
  candidate.kernels[0].sass.widths = {{"LDG", {{32, 6}, {128, 2}}}, {"STG", {{32, 2}}}};
  EXPECT_EQ(judge(candidate, base).reason,
            "128-bit global accesses: 0 of 3 → 2 of 10 (of all global memory instructions)");
  candidate.kernels[0].sass.instructions = 432;
  EXPECT_EQ(judge(candidate, base).verdict, Verdict::kRegressed);
  EXPECT_EQ(judge(candidate, base).reason,
            "instructions 100 → 432 (+332.0 %, limit 10 %), while accesses widened: "
            "128-bit global accesses: 0 of 3 → 2 of 10 (of all global memory instructions)");
  base.kernels[0].sass.widths = {{"LDG", {{128, 2}}}};
  candidate.kernels[0].sass.widths = {{"LDG", {{128, 8}}}};
  EXPECT_EQ(judge(candidate, base).reason, "instructions 100 → 432 (+332.0 %, limit 10 %)") << "unrolled, not widened";
}

TEST(StaticGate, NamesTheKernelWhereThereAreSeveral) {
  StaticSide base = side(), candidate = side("new");
  for (StaticSide* one : {&base, &candidate}) {
    one->kernels.push_back(one->kernels[0]);
    one->kernels[1].name = "finish";
  }
  candidate.kernels[1].resources.spill_store_bytes = 8;
  EXPECT_EQ(judge(candidate, base).reason, "finish: spills 0 → 8 B stored, 0 → 0 B loaded");
  EXPECT_EQ(judge(candidate, base).changes, (std::vector<Change>{{"finish: spill store bytes", "0", "8"}}));
}

TEST(StaticGate, ComparesAllKernelsAsOneWhereTheyAreOthers) {
  StaticSide candidate = side("new");
  candidate.kernels.push_back(candidate.kernels[0]);
  candidate.kernels[1].name = "finish";
  const auto judgement = judge(candidate);
  EXPECT_EQ(judgement.verdict, Verdict::kRegressed);
  EXPECT_EQ(judgement.reason, "instructions 100 → 200 (+100.0 %, limit 10 %)");
  EXPECT_EQ(judgement.changes.front(), (Change{"kernels", "scale", "scale, finish"}));
}

TEST(StaticGate, SaysNothingWhereTheCompilerDidNot) {
  StaticSide candidate = side("new");
  candidate.kernels[0].resources.registers = -1;
  EXPECT_EQ(judge(candidate).verdict, Verdict::kNoData);
  EXPECT_EQ(judge(side(), candidate).verdict, Verdict::kNoData);
  EXPECT_EQ(judge(StaticSide{}).verdict, Verdict::kNoData);
  EXPECT_EQ(judge(StaticSide{}, StaticSide{}).verdict, Verdict::kNoData);
}

}  // namespace
}  // namespace ktune::verdict
