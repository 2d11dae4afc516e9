#include "device/clock_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "base/error.h"

// With functions of our own in NVML's place: no clock is touched. What they are called with is written to a file, since
// they run in the guard's process.

namespace ktune::device {
namespace {

std::string g_log;
unsigned g_clock = 0;
int g_lock_result = 0;

void log_line(const std::string& line) { std::ofstream(g_log, std::ios::app) << line << '\n'; }

ClockFunctions fake_nvml(std::string&) {
  ClockFunctions functions;
  functions.lock = [](void*, unsigned low, unsigned high) {
    log_line("lock " + std::to_string(low) + " " + std::to_string(high));
    return g_lock_result;
  };
  functions.reset = [](void*) {
    log_line("reset");
    return 0;
  };
  functions.sm_clock = [](void*, unsigned* mhz) {
    *mhz = g_clock;
    return 0;
  };
  return functions;
}

class ClockLockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    g_log = (std::filesystem::temp_directory_path() / ("ktune-clock-" + std::to_string(getpid()))).string();
    std::filesystem::remove(g_log);
    g_clock = 1500;
    g_lock_result = 0;
  }
  void TearDown() override { std::filesystem::remove(g_log); }

  static std::string log() {
    std::ifstream file(g_log);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static std::string log_once_reset() {
    for (int i = 0; i < 200 && log().find("reset") == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return log();
  }

  /// A process of its own that locks the clock and then ends as `end` does; returns once it is gone.
  template <typename End>
  static int in_child(const End& end) {
    const pid_t child = fork();
    if (child == 0) {
      ClockLock lock(fake_nvml, 1500);
      end();
      for (;;) pause();
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
};

TEST_F(ClockLockTest, LocksBothEndsAtOneClockAndGivesItBackAtTheEndOfItsScope) {
  {
    const ClockLock lock(fake_nvml, 1500);
    EXPECT_EQ(log(), "lock 1500 1500\n");
  }
  EXPECT_EQ(log(), "lock 1500 1500\nreset\n");
}

TEST_F(ClockLockTest, GivesItBackWhenAnErrorPassesThrough) {
  try {
    const ClockLock lock(fake_nvml, 1500);
    throw Error(ErrorKind::kNo, "something else");
  } catch (const Error&) {
  }
  EXPECT_EQ(log(), "lock 1500 1500\nreset\n");
}

TEST_F(ClockLockTest, GivesItBackWhenTheProcessIsKilled) {
  const int status = in_child([] { kill(getpid(), SIGKILL); });
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_EQ(log_once_reset(), "lock 1500 1500\nreset\n");
}

TEST_F(ClockLockTest, GivesItBackWhenTheProcessCrashesOrIsInterrupted) {
  for (const int signal : {SIGSEGV, SIGINT, SIGTERM}) {
    std::filesystem::remove(g_log);
    in_child([signal] {
      std::signal(signal, SIG_DFL);
      raise(signal);
    });
    EXPECT_EQ(log_once_reset(), "lock 1500 1500\nreset\n") << signal;
  }
}

TEST_F(ClockLockTest, TheGuardTakesNoSignalThatATerminalSendsToAll) {
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    ClockLock lock(fake_nvml, 1500);
    kill(0, SIGINT);  // as Ctrl-C: everybody in the group
    for (;;) pause();
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WTERMSIG(status), SIGINT);
  EXPECT_EQ(log_once_reset(), "lock 1500 1500\nreset\n");
}

TEST_F(ClockLockTest, SaysWhyItCannotLock) {
  g_lock_result = 4;
  try {
    const ClockLock lock(fake_nvml, 1500);
    FAIL() << "it locked";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_EQ(error.message(),
              "--lock-clocks 1500: locking clocks is for administrators: run as root, or leave --lock-clocks out");
  }
  EXPECT_EQ(log(), "lock 1500 1500\n");  // nothing to give back
}

TEST_F(ClockLockTest, SaysWhenNvmlIsMissing) {
  try {
    const ClockLock lock(
        [](std::string& problem) {
          problem = "no NVML here";
          return ClockFunctions{};
        },
        1500);
    FAIL() << "it locked";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "--lock-clocks 1500: no NVML here");
  }
}

TEST_F(ClockLockTest, TellsWhetherTheClockWasHeld) {
  ClockLock held(fake_nvml, 1500);
  const ClockReport good = held.release();
  EXPECT_GE(good.looks, 1);
  EXPECT_EQ(good.held, good.looks);
  EXPECT_TRUE(good.restored);
  EXPECT_EQ(clock_message(good, 1500), "");
  g_clock = 1155;
  ClockLock slipped(fake_nvml, 1500);
  const ClockReport bad = slipped.release();
  EXPECT_EQ(bad.held, 0);
  EXPECT_EQ(bad.lowest_mhz, 1155);
  EXPECT_EQ(clock_message({4, 1, 1155, 1500, true}, 1500),
            "the SM clock was not held at 1500 MHz: 3 of 4 looks found it elsewhere, from 1155 to 1500 MHz");
  EXPECT_NE(clock_message({4, 4, 1500, 1500, false}, 1500).find("--reset-gpu-clocks"), std::string::npos);
}

}  // namespace
}  // namespace ktune::device
