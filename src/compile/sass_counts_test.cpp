#include "compile/sass_counts.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "compile/job.h"
#include "compile/scratch_op_test.h"

namespace ktune::compile {
namespace {

using Widths = std::map<int, std::int64_t>;

// What nvdisasm -c printed of kernels for sm_80 and sm_100, shortened.
constexpr const char* kNvdisasm = R"(	.target	sm_80

//--------------------- .text.second              --------------------------
	.section	.text.second,"ax",@progbits
	.sectioninfo	@"SHI_REGISTERS=8"
second:
.text.second:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0050*/                   LDG.E R0, [R2.64] ;
.L_x_10:
        /*0080*/                   EXIT ;
        /*00a0*/                   NOP;

//--------------------- .text.scale               --------------------------
	.section	.text.scale,"ax",@progbits
.text.scale:
        /*0020*/                   HFMA2.MMA R3, -RZ, RZ, 0, 2.384185791015625e-07 ;
        /*0060*/                   LDG.E.128 R4, [R4.64] ;
        /*0110*/                   LDG.E.LTC128B.64.CONSTANT R4, desc[UR4][R4.64] ;
        /*0120*/                   STS.128 [R2], R4 ;
        /*0140*/                   LDS.64 R10, [R10] ;
        /*0150*/              @!P0 STG.E desc[UR4][R12.64], R10 ;
        /*0160*/                   LDG.E.U8 R5, [R14.64+0x5] ;
        /*0170*/                   LDG.E.S16 R5, [R14.64+0x5] ;
        /*0230*/                   RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R4.64], R11 ;
        /*0260*/              @!PT LDS RZ, [RZ] ;
        /*0290*/                   LDGSTS.E.BYPASS.128 [0x20], [R18.64] ;
        /*02a0*/                   LDGDEPBAR ;
        /*02b0*/                   LD.E.64 R4, [R4.64] ;
        /*02c0*/                   STG.E.ENL2.256 desc[UR4][R2.64], R4, R8 ;
        /*05b0*/                   STL.128 [R14], R20 ;
        /*05c0*/                   HMMA.16816.F32 R4, R4, R8, RZ ;
        /*05d0*/                   IMAD.WIDE.U32 R4, R16.reuse, -0x33333333, RZ ;
        /*05e0*/              @P0  BRA `(.L_x_1) ;
        /*05f0*/                   S2R R0, SR_TID.X ;
	.section	.nv.constant0.scale,"a",@progbits
        /*0000*/                   MOV R1, R1 ;
)";

TEST(SassCounts, CountsInstructionsByFunctionAndClass) {
  const auto counts = count_sass(kNvdisasm);
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts.at("second").instructions, 3);
  const std::map<std::string, std::int64_t> classes{{"global", 8},  {"shared", 2},  {"float", 1},
                                                    {"atomic", 1},  {"local", 1},   {"tensor", 1},
                                                    {"integer", 1}, {"control", 2}, {"other", 1}};
  EXPECT_EQ(counts.at("scale").classes, classes);
  EXPECT_EQ(counts.at("scale").instructions, 18);
}

TEST(SassCounts, CountsMemoryInstructionsByWidth) {
  const auto scale = count_sass(kNvdisasm).at("scale");
  EXPECT_EQ(scale.widths.at("LDG"), (Widths{{8, 1}, {16, 1}, {64, 2}, {128, 1}}));
  EXPECT_EQ(scale.widths.at("STG"), (Widths{{32, 1}, {256, 1}}));
  EXPECT_EQ(scale.widths.at("LDGSTS"), (Widths{{128, 1}}));
  EXPECT_EQ(scale.widths.at("LDS"), (Widths{{64, 1}}));
  EXPECT_EQ(scale.widths.at("STS"), (Widths{{128, 1}}));
  EXPECT_EQ(scale.widths.size(), 5U);
}

TEST(SassCounts, ReadsCuobjdumpToo) {
  const auto counts = count_sass(
      "\t\tFunction : _Z5scalePf\n\t.headerflags\t@\"EF_CUDA_SM90\"\n"
      "        /*0000*/                   LDC R1, c[0x0][0x28] ;                          /* 0x00000a00ff017b82 */\n"
      "                                                                                   /* 0x000fe20000000800 */\n"
      "        /*0010*/                   LDG.E.64 R0, desc[UR4][R2.64] ;                 /* 0x0000000402007981 */\n");
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts.at("_Z5scalePf").instructions, 2);
  EXPECT_EQ(counts.at("_Z5scalePf").widths.at("LDG"), (Widths{{64, 1}}));
}

TEST(SassCounts, OfNoCodeAreNone) {
  EXPECT_TRUE(count_sass("").empty());
  EXPECT_TRUE(count_sass("/*0000*/ MOV R1, R2 ;\n/*").empty());
  EXPECT_EQ(count_sass("Function : a\n/**/ MOV R1, R2 ;\n/*00\n/*0000*/ @P0\n/*0010*/ ;\n").at("a").instructions, 0);
}

TEST(SassCounts, OfAKernelAreThoseOfItsNameOrItsMangledName) {
  const auto counts = count_sass(kNvdisasm);
  EXPECT_EQ(&counts_of(counts, "scale"), &counts.at("scale"));
  const auto mangled =
      count_sass("Function : _Z5scalePf\n/*0000*/ EXIT ;\nFunction : _Z6scalesPf\n/*0000*/ EXIT ;\n/*0010*/ EXIT ;\n");
  EXPECT_EQ(&counts_of(mangled, "scale"), &mangled.at("_Z5scalePf"));
}

TEST(SassCounts, OfAKernelThatTheDisassemblerDoesNotShowAreAnError) {
  const auto said_of = [](const char* text, const char* kernel) -> std::string {
    try {
      counts_of(count_sass(text), kernel);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
      return error.message();
    }
    return "nothing";
  };
  EXPECT_EQ(said_of("", "scale"), "the disassembler shows no instructions of kernel 'scale'; it shows: nothing");
  EXPECT_EQ(said_of("garbage\n", "scale"),
            "the disassembler shows no instructions of kernel 'scale'; it shows: nothing");
  EXPECT_EQ(said_of(kNvdisasm, "scal"),
            "the disassembler shows no instructions of kernel 'scal'; it shows: scale (18), second (3)");
  EXPECT_EQ(said_of("Function : scale\n", "scale"),
            "the disassembler shows no instructions of kernel 'scale'; it shows: scale (0)");
}

/// What the compiler made of it is what is counted, on every architecture.
TEST(SassCounts, SeeVectorisedAccesses) {
  const ScratchOp op;
  op.write("op.cu", "extern \"C\" __global__ void scale(float4* x) { x[threadIdx.x] = x[threadIdx.x + 1]; }\n");
  for (const char* target : {"sm_80", "sm_90", "sm_100", "sm_120"}) {
    const auto binary = compile_here(op.job(target), op.path("cache"));
    ASSERT_TRUE(binary) << binary.error().detail;
    std::string text;
    try {
      text = sass_of(*binary);
    } catch (const std::exception& error) {
      GTEST_SKIP() << error.what();
    }
    const auto counts = count_sass(text).at("scale");
    EXPECT_EQ(counts.widths.at("LDG"), (Widths{{128, 1}})) << target;
    EXPECT_EQ(counts.widths.at("STG"), (Widths{{128, 1}})) << target;
    EXPECT_GT(counts.instructions, 5) << target;
    EXPECT_LT(counts.instructions, 20) << target;
  }
}

}  // namespace
}  // namespace ktune::compile
