#include "base/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/environment_for_test.h"
#include "base/fd.h"

namespace ktune {
namespace {

/// Stdout on a pseudo terminal of 123 columns, or on /dev/null, for a test's length.
class StdoutOn {
 public:
  explicit StdoutOn(bool terminal) : saved_(::dup(STDOUT_FILENO)) {
    if (terminal) {
      master_ = Fd(::posix_openpt(O_RDWR | O_NOCTTY));
      ::grantpt(master_.get());
      ::unlockpt(master_.get());
      winsize size{};
      size.ws_col = 123;
      ::ioctl(master_.get(), TIOCSWINSZ, &size);
    }
    Fd target(::open(terminal ? ::ptsname(master_.get()) : "/dev/null", O_RDWR | O_NOCTTY));
    ::dup2(target.get(), STDOUT_FILENO);
  }
  ~StdoutOn() { ::dup2(saved_.get(), STDOUT_FILENO); }

 private:
  Fd saved_;
  Fd master_;
};

Stream seen(bool terminal) {
  std::fflush(stdout);
  StdoutOn redirected(terminal);
  return stdout_stream();
}

/// A chroot or container may have no pseudo-terminals.
bool has_terminals() {
  const Fd master(::posix_openpt(O_RDWR | O_NOCTTY));
  if (master.get() < 0 || ::unlockpt(master.get()) != 0) return false;
  const Fd slave(::open(::ptsname(master.get()), O_RDWR | O_NOCTTY));
  return slave.get() >= 0;
}
#define NEEDS_A_TERMINAL() \
  if (!has_terminals()) GTEST_SKIP() << "no pseudo-terminal can be opened here (/dev/pts)"

struct PlainEnvironment {
  ScopedVariable no_color{"NO_COLOR", std::nullopt};
  ScopedVariable force{"CLICOLOR_FORCE", std::nullopt};
  ScopedVariable term{"TERM", "xterm"};
  ScopedVariable columns{"COLUMNS", std::nullopt};
};

TEST(Stream, ATerminalHasColourAndItsOwnWidth) {
  NEEDS_A_TERMINAL();
  PlainEnvironment plain;
  Stream stream = seen(true);
  EXPECT_TRUE(stream.is_terminal);
  EXPECT_TRUE(stream.colour);
  EXPECT_EQ(stream.width, 123);
}

TEST(Stream, AnythingElseHasNeitherColourNorALimit) {
  PlainEnvironment plain;
  Stream stream = seen(false);
  EXPECT_FALSE(stream.is_terminal);
  EXPECT_FALSE(stream.colour);
  EXPECT_EQ(stream.width, 0);
}

TEST(Stream, NoColorBeatsForcedColour) {
  PlainEnvironment plain;
  ScopedVariable force("CLICOLOR_FORCE", "1");
  EXPECT_TRUE(seen(false).colour);
  ScopedVariable no_color("NO_COLOR", "1");
  EXPECT_FALSE(seen(false).colour);
  EXPECT_FALSE(seen(true).colour);
}

TEST(Stream, AnEmptyNoColorIsNotSet) {
  NEEDS_A_TERMINAL();
  PlainEnvironment plain;
  ScopedVariable no_color("NO_COLOR", "");
  EXPECT_TRUE(seen(true).colour);
}

TEST(Stream, ADumbTerminalGetsNoColour) {
  PlainEnvironment plain;
  ScopedVariable term("TERM", "dumb");
  EXPECT_FALSE(seen(true).colour);
}

TEST(Stream, ColumnsOverridesTheWidthUnlessItIsNonsense) {
  NEEDS_A_TERMINAL();
  PlainEnvironment plain;
  {
    ScopedVariable columns("COLUMNS", "60");
    EXPECT_EQ(seen(true).width, 60);
    EXPECT_EQ(seen(false).width, 60);
  }
  ScopedVariable columns("COLUMNS", "-3x");
  EXPECT_EQ(seen(true).width, 123);
}

TEST(Styled, WrapsTextOnlyWithColour) {
  EXPECT_EQ(styled("bad", Style::kRed, true), "\033[31mbad\033[0m");
  EXPECT_EQ(styled("bad", Style::kRed, false), "bad");
  EXPECT_EQ(styled("bad", Style::kPlain, true), "bad");
  EXPECT_EQ(styled("", Style::kRed, true), "");
}

/// What a ProgressLine printed while `use` used it, its destructor included.
template <typename Use>
std::string printed(Stream stream, Use use) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  {
    ProgressLine line(out, stream);
    use(line);
  }
  std::fclose(out);
  std::string result(text, size);
  std::free(text);
  return result;
}

constexpr Stream kTerminal{true, false, 10};
constexpr Stream kPipe{false, false, 0};

TEST(ProgressLine, IsRewrittenInPlaceCutToTheWidthAndCleared) {
  std::string text = printed(kTerminal, [](ProgressLine& line) { line.update("0123456789abc"); });
  EXPECT_EQ(text, "\r\033[K01234567…\r\033[K");
}

TEST(ProgressLine, UpdatesThatComeTooSoonAreDropped) {
  std::string text = printed(kTerminal, [](ProgressLine& line) {
    line.update("one");
    line.update("two");
    ::usleep(110'000);
    line.update("three");
  });
  EXPECT_EQ(text, "\r\033[Kone\r\033[Kthree\r\033[K");
}

TEST(ProgressLine, PrintsAboveTheLineAndKeepsIt) {
  std::string text = printed(kTerminal, [](ProgressLine& line) {
    line.update("busy");
    line.print("found one");
  });
  EXPECT_EQ(text, "\r\033[Kbusy\r\033[Kfound one\n\r\033[Kbusy\r\033[K");
}

TEST(ProgressLine, ElsewhereItIsAPlainLineNowAndThen) {
  std::string text = printed(kPipe, [](ProgressLine& line) {
    line.update("1 of 9");
    line.update("2 of 9");
    line.print("found one");
  });
  EXPECT_EQ(text, "1 of 9\nfound one\n");
}

}  // namespace
}  // namespace ktune
