#include "base/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/fd.h"
#include "base/text.h"

namespace ktune {
namespace {

std::vector<std::string> shell(const std::string& script) { return {"sh", "-c", script}; }

/// Whether a process is gone (or only waits to be reaped by init).
bool gone_within(pid_t pid, double seconds) {
  for (double end = now_s() + seconds; now_s() < end; ::usleep(2'000)) {
    if (::kill(pid, 0) != 0 && errno == ESRCH) return true;
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string id, name, state;
    if (!(stat >> id >> name >> state) || state == "Z") return true;
  }
  return false;
}

TEST(ExitStatus, SaysWhatHappenedInWords) {
  EXPECT_EQ((ExitStatus{3, 0}.text()), "exit code 3");
  EXPECT_EQ((ExitStatus{-1, SIGSEGV}.text()), "killed by SIGSEGV (segmentation fault)");
  EXPECT_EQ((ExitStatus{-1, SIGKILL}.text()), "killed by SIGKILL (killed)");
  EXPECT_EQ((ExitStatus{-1, 63}.text()), "killed by signal 63");
}

TEST(ChildProcess, EchoesLinesBothWays) {
  ChildProcess cat({"cat"});
  EXPECT_TRUE(cat.write_line("one"));
  EXPECT_TRUE(cat.write_line(""));
  EXPECT_TRUE(cat.write_line("three"));
  EXPECT_EQ(cat.read_line(5), "one");
  EXPECT_EQ(cat.read_line(5), "");
  EXPECT_EQ(cat.read_line(5), "three");
  cat.close_stdin();
  EXPECT_EQ(cat.read_line(5), std::nullopt);
  EXPECT_TRUE(cat.at_end());
  EXPECT_EQ(cat.wait(5).value().code, 0);
}

TEST(ChildProcess, ALastLineWithoutANewlineIsStillALine) {
  ChildProcess child(shell("printf 'a\\nb'"));
  EXPECT_EQ(child.read_line(5), "a");
  EXPECT_EQ(child.read_line(5), "b");
  EXPECT_EQ(child.read_line(5), std::nullopt);
  EXPECT_TRUE(child.at_end());
}

TEST(ChildProcess, AReadThatTimesOutReturnsOnTimeAndLosesNothing) {
  ChildProcess child(shell("printf half; read x; echo ' line'"));
  double start = now_s();
  EXPECT_EQ(child.read_line(0.1), std::nullopt);
  EXPECT_GE(now_s() - start, 0.1);
  EXPECT_LT(now_s() - start, 2.0);
  EXPECT_FALSE(child.at_end());
  EXPECT_FALSE(child.has_line());
  child.write_line("go");
  EXPECT_EQ(child.read_line(5), "half line");
}

TEST(ChildProcess, ALineLargerThanAnyPipeGoesBothWaysWithoutDeadlock) {
  ChildProcess cat({"cat"});
  std::string large(5 << 20, 'x');
  EXPECT_TRUE(cat.write_line(large));
  EXPECT_EQ(cat.read_line(20), large);
}

TEST(ChildProcess, AChildThatReadsNothingCannotBlockTheWriterForever) {
  ChildProcess child({"sleep", "60"});
  double start = now_s();
  EXPECT_FALSE(child.write_line(std::string(1 << 20, 'x'), 0.2));
  EXPECT_LT(now_s() - start, 5.0);
}

TEST(ChildProcess, WritingToADeadChildIsFalseAndRaisesNoSignal) {
  ChildProcess child({"true"});
  ASSERT_EQ(child.wait(5).value().code, 0);
  EXPECT_FALSE(child.write_line("x"));
  ChildProcess closer(shell("exec <&-; echo closed; sleep 60"));
  ASSERT_EQ(closer.read_line(5), "closed");
  EXPECT_FALSE(closer.write_line("x"));  // SIGPIPE would have ended this test
}

TEST(ChildProcess, KeepsTheEndOfStderrAndIsNotBlockedByIt) {
  ChildProcess child(shell("yes noise | head -c 900000 >&2; echo last words >&2; echo done"));
  EXPECT_EQ(child.read_line(20), "done");
  ASSERT_TRUE(child.wait(5));
  std::string tail = child.stderr_tail();
  EXPECT_EQ(tail.size(), 16u << 10);
  EXPECT_TRUE(tail.ends_with("noise\nlast words\n"));
}

TEST(ChildProcess, PollingSeveralChildrenIsNotStuckOnOneThatFillsItsStderr) {
  ChildProcess child(shell("yes noise | head -c 1000000 >&2; echo done"));
  std::optional<std::string> line;
  for (double end = now_s() + 20; !line && now_s() < end;) {
    pollfd fd{child.read_fd(), POLLIN, 0};
    ::poll(&fd, 1, 1000);
    line = child.read_line(0);
  }
  EXPECT_EQ(line, "done");
}

TEST(ChildProcess, WaitingForAChildThatPrintsMoreThanAPipeHoldsDoesNotHangAndKeepsIt) {
  ChildProcess child(shell("seq 1 50000"));
  ASSERT_EQ(child.wait(20).value().code, 0);
  int count = 0;
  std::string last;
  while (auto line = child.read_line(0)) {
    last = *line;
    ++count;
  }
  EXPECT_EQ(count, 50000);
  EXPECT_EQ(last, "50000");
}

TEST(ChildProcess, WaitingForAChildThatFillsItsStderrDoesNotHang) {
  ChildProcess child(shell("yes noise | head -c 1000000 >&2; exit 4"));
  ASSERT_TRUE(child.wait(20));
  EXPECT_EQ(child.wait(0).value().code, 4);
}

TEST(ChildProcess, WaitReportsExitCodesAndSignalsAndTimesOut) {
  EXPECT_EQ(ChildProcess(shell("exit 7")).wait(5).value().code, 7);
  EXPECT_EQ(ChildProcess(shell("kill -SEGV $$")).wait(5).value().signal, SIGSEGV);
  ChildProcess sleeper({"sleep", "60"});
  EXPECT_FALSE(sleeper.wait(0.05));
  sleeper.kill();
  EXPECT_EQ(sleeper.wait(5).value().signal, SIGKILL);
  EXPECT_EQ(sleeper.wait(0).value().signal, SIGKILL);
}

TEST(ChildProcess, TheDestructorKillsTheWholeGroup) {
  pid_t leader = 0;
  pid_t grandchild = 0;
  {
    ChildProcess child(shell("sleep 60 & echo $!; wait"));
    leader = child.pid();
    grandchild = std::stoi(child.read_line(5).value());
    ASSERT_EQ(::kill(grandchild, 0), 0);
  }
  EXPECT_NE(::kill(leader, 0), 0);  // reaped, not left as a zombie
  EXPECT_TRUE(gone_within(grandchild, 5));
}

TEST(ChildProcess, AGroupOfItsChildDiesWithIt) {
  pid_t far = 0;
  {
    ChildProcess child(shell("setsid sh -c 'sleep 60 & echo $!; wait' & wait"));
    far = std::stoi(child.read_line(5).value());
    ASSERT_EQ(::kill(far, 0), 0);
  }
  EXPECT_TRUE(gone_within(far, 5));
}

TEST(ChildProcess, WhatALeaderLeavesBehindDiesWithIt) {
  ChildProcess child(shell("sleep 60 & echo $!"));
  pid_t grandchild = std::stoi(child.read_line(5).value());
  ASSERT_EQ(child.wait(5).value().code, 0);
  EXPECT_TRUE(gone_within(grandchild, 5));
}

TEST(ChildProcess, DiesWithItsParent) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  pid_t parent = ::fork();
  if (parent == 0) {
    ChildProcess child({"sleep", "60"});
    pid_t pid = child.pid();
    [[maybe_unused]] ssize_t sent = ::write(ends[1], &pid, sizeof pid);
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(parent, nullptr, 0);
  pid_t orphan = 0;
  ASSERT_EQ(::read(ends[0], &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
  EXPECT_TRUE(gone_within(orphan, 5));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(ChildProcess, IsInItsOwnGroupSoThatCtrlCReachesTheParentOnly) {
  ChildProcess child({"sleep", "60"});
  EXPECT_EQ(::getpgid(child.pid()), child.pid());
  EXPECT_NE(::getpgid(child.pid()), ::getpgrp());
}

TEST(ChildProcess, InheritsNoDescriptorsBeyondTheStandardOnes) {
  Fd leaky(::open("/dev/null", O_RDONLY));  // without close-on-exec
  ASSERT_GT(leaky.get(), 2);
  CommandResult result = run_command(shell("ls /proc/self/fd | wc -l"), 5);
  EXPECT_EQ(trim(result.out), "4");  // 0, 1, 2 and the one ls reads the folder with
}

TEST(ChildProcess, AMissingProgramIsAnErrorNotAnExitCode) {
  try {
    ChildProcess child({"ktune-no-such-program"});
    FAIL() << "started";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_EQ(error.message(), "cannot start ktune-no-such-program: No such file or directory");
    EXPECT_EQ(error.hint(), "install it, or put its folder in PATH");
  }
}

TEST(ChildProcess, AFileThatIsNoProgramIsAnError) {
  try {
    run_command({"/etc/passwd"}, 5);
    FAIL() << "started";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "cannot start /etc/passwd: Permission denied");
  }
}

TEST(ChildProcess, ExtraEnvironmentReplacesAndAdds) {
  ::setenv("KTUNE_TEST_OLD", "old", 1);
  CommandResult result = run_command(shell("echo $KTUNE_TEST_OLD $KTUNE_TEST_NEW $HOME"), 5,
                                     {{"KTUNE_TEST_OLD", "1"}, {"KTUNE_TEST_NEW", "2"}});
  ::unsetenv("KTUNE_TEST_OLD");
  EXPECT_EQ(trim(result.out), "1 2 " + std::string(std::getenv("HOME")));
}

TEST(ChildProcess, MovingHandsTheChildOver) {
  ChildProcess first({"cat"});
  pid_t pid = first.pid();
  ChildProcess second(std::move(first));
  EXPECT_EQ(second.pid(), pid);
  ChildProcess third({"true"});
  third = std::move(second);
  EXPECT_TRUE(third.write_line("still here"));
  EXPECT_EQ(third.read_line(5), "still here");
}

TEST(RunCommand, CollectsBothStreamsAndTheExitCode) {
  CommandResult result = run_command(shell("echo out; echo err >&2; exit 5"), 5);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(result.status.code, 5);
  EXPECT_FALSE(result.timed_out);
}

TEST(RunCommand, ACommandThatHangsIsKilledWithItsChildren) {
  double start = now_s();
  CommandResult result = run_command(shell("echo started; sleep 60 & sleep 60"), 0.3);
  EXPECT_LT(now_s() - start, 5.0);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.status.signal, SIGKILL);
  EXPECT_EQ(result.out, "started\n");
}

TEST(RunCommand, AFloodIsCappedAndTheCommandStillEnds) {
  CommandResult result = run_command(shell("yes | head -c 20000000"), 30);
  EXPECT_EQ(result.out.size(), 8u << 20);
  EXPECT_TRUE(result.cut);
  EXPECT_EQ(result.status.code, 0);
}

TEST(RunCommand, KeepsAsMuchAsItIsToldAndSaysWhenThatWasNotAll) {
  const CommandResult all = run_command(shell("printf 12345"), 30, {}, {.stream_bytes = 5});
  EXPECT_EQ(all.out, "12345");
  EXPECT_FALSE(all.cut);
  const CommandResult cut = run_command(shell("printf 123456"), 30, {}, {.stream_bytes = 5});
  EXPECT_EQ(cut.out, "12345");
  EXPECT_TRUE(cut.cut);
}

TEST(RunCommand, ACommandThatPrintsWithoutEndIsKilledInTime) {
  const double start = now_s();
  EXPECT_TRUE(run_command({"yes"}, 0.3, {}, {.stream_bytes = 10}).timed_out);
  EXPECT_LT(now_s() - start, 5.0);
}

TEST(RunCommand, ItsStandardInputIsEmpty) { EXPECT_EQ(run_command({"cat"}, 5).status.code, 0); }

}  // namespace
}  // namespace ktune
