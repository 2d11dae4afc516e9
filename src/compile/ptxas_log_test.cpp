#include "compile/ptxas_log.h"

#include <gtest/gtest.h>

namespace ktune::compile {
namespace {

constexpr const char* kLog = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z6spillyPfi' for 'sm_90'
ptxas info    : Function properties for _Z6spillyPfi
ptxas         .     800 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers, 800 bytes cumulative stack size
ptxas info    : Compile time = 25.998 ms
ptxas info    : Compiling entry function 'rmsnorm' for 'sm_90'
ptxas info    : Function properties for rmsnorm
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 1 barriers, 256 bytes smem, 400 bytes cmem[0]
ptxas info    : Compile time = 1.964 ms
ptxas info    : Function properties for helper
ptxas         .     48 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
)";

TEST(PtxasLog, GivesEachEntryItsResources) {
  const auto entries = parse_ptxas_log(kLog);
  ASSERT_EQ(entries.size(), 2U);
  const auto& rmsnorm = entries.at("rmsnorm");
  EXPECT_EQ(rmsnorm.registers, 12);
  EXPECT_EQ(rmsnorm.shared_bytes, 256);
  EXPECT_EQ(rmsnorm.local_bytes, 0);
  EXPECT_EQ(rmsnorm.spill_store_bytes, 0);
  EXPECT_EQ(rmsnorm.spill_load_bytes, 0);
  const auto& spilly = entries.at("_Z6spillyPfi");
  EXPECT_EQ(spilly.registers, 40);
  EXPECT_EQ(spilly.shared_bytes, 0);
  EXPECT_EQ(spilly.local_bytes, 800);
  EXPECT_EQ(spilly.spill_store_bytes, 12);
  EXPECT_EQ(spilly.spill_load_bytes, 16);
}

TEST(PtxasLog, FindsAKernelByItsMangledName) {
  const auto entries = parse_ptxas_log(kLog);
  EXPECT_EQ(entry_of(entries, "rmsnorm"), "rmsnorm");
  EXPECT_EQ(entry_of(entries, "spilly"), "_Z6spillyPfi");
  EXPECT_EQ(entry_of(entries, "spill"), "");
}

TEST(PtxasLog, LeavesOutNotesAndFindsTheFirstError) {
  const std::string log =
      "a.cu(2): warning #177-D: declared but never referenced\n  int x;\n\na.cu(7): error: "
      "identifier \"y\" is undefined\n1 error detected\nptxas info    : 0 bytes gmem\n";
  EXPECT_EQ(without_notes(log),
            "a.cu(2): warning #177-D: declared but never referenced\n  int x;\n\na.cu(7): error: identifier \"y\" is "
            "undefined\n1 error detected");
  EXPECT_EQ(first_error(log), "a.cu(7): error: identifier \"y\" is undefined");
  EXPECT_EQ(first_error("nvrtc: something odd\n"), "nvrtc: something odd");
  EXPECT_EQ(first_error(""), "");
}

}  // namespace
}  // namespace ktune::compile
