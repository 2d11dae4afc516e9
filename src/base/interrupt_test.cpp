#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"

namespace ktune {
namespace {

std::vector<std::string> sh(const std::string& script) { return {"sh", "-c", script}; }

/// Runs `body` in a fork and gives its wait status.
template <typename Body>
int status_of_fork(Body body) {
  pid_t pid = ::fork();
  if (pid == 0) {
    body();
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

TEST(StandardStreams, AreFilledWhereTheyAreClosedAndLeftWhereTheyAreOpen) {
  const int status = status_of_fork([] {
    for (const int fd : {0, 1, 2}) ::close(fd);
    fill_standard_streams();
    if (::write(1, "x", 1) != -1 || errno != EBADF) ::_exit(1);
    if (::write(2, "x", 1) != 1) ::_exit(2);
    const int next = ::open("/dev/zero", O_RDONLY);
    if (next < 3) ::_exit(3);
    ::dup2(next, 0);
    fill_standard_streams();
    char zero = 'x';
    ::_exit(::read(0, &zero, 1) == 1 && zero == 0 ? 0 : 4);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Interrupt, TheFirstSignalSetsTheFlagAndTheSecondEndsTheProcessWith130) {
  int status = status_of_fork([] {
    install_interrupt_handler();
    if (interrupted()) ::_exit(1);
    ::raise(SIGINT);
    if (!interrupted()) ::_exit(2);
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    ::raise(SIGINT);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
}

TEST(Interrupt, EndsTheProcessWhereNothingLooksAtIt) {
  int status = status_of_fork([] {
    install_interrupt_handler();
    {
      const EndsAtInterrupt scope;
    }
    ::raise(SIGTERM);
    if (!interrupted()) ::_exit(1);
    try {
      const EndsAtInterrupt scope;
      ::_exit(2);
    } catch (const Error& error) {
      ::_exit(error.kind() == ErrorKind::kInterrupted ? 0 : 3);
    }
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "outside of it a signal is a request";
  status = status_of_fork([] {
    install_interrupt_handler();
    const EndsAtInterrupt scope;
    ::raise(SIGINT);
    ::_exit(1);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
}

TEST(Interrupt, ASignalSentTwiceIsOneRequest) {
  int status = status_of_fork([] {
    install_interrupt_handler();
    ::raise(SIGTERM);
    ::raise(SIGTERM);
    ::raise(SIGINT);
    ::_exit(interrupted() ? 0 : 1);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Interrupt, ATerminationRequestAndAHangUpCountAsOne) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    const int status = status_of_fork([signal] {
      ::signal(SIGHUP, SIG_DFL);
      install_interrupt_handler();
      ::raise(signal);
      ::_exit(interrupted() ? 0 : 1);
    });
    ASSERT_TRUE(WIFEXITED(status)) << signal;
    EXPECT_EQ(WEXITSTATUS(status), 0) << signal;
  }
  const int status = status_of_fork([] {
    ::signal(SIGHUP, SIG_IGN);  // as nohup does
    install_interrupt_handler();
    ::raise(SIGHUP);
    ::_exit(interrupted() ? 1 : 0);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Interrupt, EndsACommandThatIsToEndWithIt) {
  int status = status_of_fork([] {
    install_interrupt_handler();
    const double start = now_s();
    std::thread signal([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      ::raise(SIGINT);
    });
    const CommandResult result = run_command(sh("sleep 20 & sleep 20"), 30, {}, {.ends_at_interrupt = true});
    signal.join();
    if (!result.interrupted || result.timed_out || now_s() - start > 10.0) ::_exit(1);
    const CommandResult other = run_command(sh("sleep 0.3; echo done"), 30);  // not told to
    ::_exit(other.out == "done\n" && !other.interrupted ? 0 : 2);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Interrupt, AChildHasDefaultSignalsWhateverItsParentIgnores) {
  int status = status_of_fork([] {
    ::signal(SIGINT, SIG_IGN);  // unlike a handler, this would outlive the exec
    ::signal(SIGPIPE, SIG_IGN);
    CommandResult result = run_command(sh("kill -INT $$; echo survived"), 5);
    if (result.status.signal != SIGINT) ::_exit(1);
    result = run_command(sh("kill -PIPE $$; echo survived"), 5);
    ::_exit(result.status.signal == SIGPIPE ? 0 : 2);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace ktune
