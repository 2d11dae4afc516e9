#include "trial/crash.h"

#include <gtest/gtest.h>

#include <csignal>

namespace ktune::trial {
namespace {

ExitStatus killed(int signal) {
  ExitStatus status;
  status.signal = signal;
  return status;
}

ExitStatus exited(int code) {
  ExitStatus status;
  status.code = code;
  return status;
}

TEST(CrashFailure, NamesTheSignal) {
  const model::Failure failure = crash_failure(killed(SIGSEGV), "");
  EXPECT_EQ(failure.outcome, model::Outcome::kCrashed);
  EXPECT_EQ(failure.reason, "the worker ended: " + killed(SIGSEGV).text());
  EXPECT_NE(failure.reason.find("SIGSEGV"), std::string::npos);
}

TEST(CrashFailure, IsNoKernelsWhereSomeoneKilledTheWorker) {
  EXPECT_TRUE(crash_failure(killed(SIGKILL), "").transient);
  EXPECT_FALSE(crash_failure(killed(SIGSEGV), "").transient);
  EXPECT_FALSE(crash_failure(exited(3), "").transient);
}

TEST(CrashFailure, AddsTheLastWords) {
  const model::Failure failure = crash_failure(exited(3), "first\nlast words\n\n");
  EXPECT_EQ(failure.reason, "the worker ended: exit code 3: last words");
  EXPECT_EQ(failure.detail, "first\nlast words\n\n");
  EXPECT_EQ(crash_failure(exited(3), "ktune: kernel fault: k\n").reason,
            "the worker ended: exit code 3: kernel fault: k");
}

TEST(CrashFailure, TakesTheKernelsLineFromAnAddressReport) {
  const std::string report =
      "other.cu:3 was here before\n"
      "=================================================================\n"
      "==77==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000fa0 at pc 0x7f bp 0x7f sp 0x7f\n"
      "WRITE of size 4 at 0x602000000fa0 thread T1\n"
      "    #0 0x7f11 in store src/device/cpu/simt_memory.h:40\n"
      "    #1 0x7f12 in (anonymous namespace)::overrun(float const*, float*, int) /some/where/overrun.cu:9\n"
      "    #2 0x7f13 in run src/device/cpu/block.cpp:12\n"
      "SUMMARY: AddressSanitizer: heap-buffer-overflow /some/where/overrun.cu:9 in overrun\n";
  EXPECT_EQ(crash_failure(exited(1), report).reason, "AddressSanitizer: heap-buffer-overflow at overrun.cu:9");
}

TEST(CrashFailure, TakesTheKernelsLineFromAnUndefinedBehaviourReport) {
  EXPECT_EQ(crash_failure(exited(1),
                          "sticky.cu:10:20: runtime error: load of misaligned address 0x7f04 for type 'const float4'\n")
                .reason,
            "UndefinedBehaviorSanitizer: load of misaligned address 0x7f04 for type 'const float4' at sticky.cu:10");
  EXPECT_EQ(crash_failure(exited(1),
                          "other.cu:3 was here before\n"
                          "simt_memory.h:33:7: runtime error: load of null pointer of type 'const float'\n"
                          "    #0 0x7f in __ldg simt_memory.h:33\n"
                          "    #1 0x7f in sticky(float const*) sticky.cu:21\n")
                .reason,
            "UndefinedBehaviorSanitizer: load of null pointer of type 'const float' at sticky.cu:21");
}

}  // namespace
}  // namespace ktune::trial
