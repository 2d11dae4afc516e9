#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ktune {

/// How a child ended.
struct ExitStatus {
  int code = -1;             ///< exit code, −1 if it was killed
  int signal = 0;            ///< the signal that killed it, 0 if none
  std::string text() const;  ///< "exit code 3", "killed by SIGSEGV (segmentation fault)"
};

/// A child process with line-oriented pipes. Its stderr goes to a capped in-memory tail (last 16 KiB). The child is in
/// its own process group and is killed with it; it dies with its parent (PR_SET_PDEATHSIG, which the kernel ties to the
/// thread that started it: start children from threads that outlive them). Ctrl-C reaches the parent only.
class ChildProcess {
 public:
  /// Starts argv[0] (looked up in PATH). Throws Error(kEnvironment) if it cannot be started.
  explicit ChildProcess(const std::vector<std::string>& argv,
                        const std::vector<std::pair<std::string, std::string>>& extra_env = {});
  ~ChildProcess();  ///< kills and reaps
  ChildProcess(ChildProcess&&) noexcept;
  ChildProcess& operator=(ChildProcess&&) noexcept;

  /// Writes the line and '\n'; false if the child no longer reads, or did not take it all in time (then the stream is
  /// broken off: end the child). What the child prints meanwhile is kept. Negative: no limit.
  bool write_line(const std::string& line, double timeout_s = 30.0);
  /// The next line without '\n'; nothing on timeout or end of file (see at_end). Negative: no limit.
  std::optional<std::string> read_line(double timeout_s);
  /// True once stdout is closed and every line was read.
  bool at_end() const;
  void close_stdin();
  /// Waits for the end; nothing on timeout. Negative: no limit. What the child printed before it ended stays readable;
  /// whatever else is in its group is killed.
  std::optional<ExitStatus> wait(double timeout_s);
  void kill();
  std::string stderr_tail();
  pid_t pid() const;
  /// Readable when a line or the end of file may be available (then call read_line(0)): for poll() over several
  /// children. Not the pipe itself: never read() it.
  int read_fd() const;
  /// True if a complete line is already buffered.
  bool has_line() const;

 private:
  struct Impl;
  Impl* impl_ = nullptr;
};

struct CommandResult {
  ExitStatus status;
  bool timed_out = false;
  bool interrupted = false;  ///< killed because of Ctrl-C
  bool cut = false;          ///< it printed more than was kept
  std::string out;
  std::string err;
};

struct CommandLimits {
  std::size_t stream_bytes = 8 << 20;  ///< kept of either stream
  bool ends_at_interrupt = false;      ///< killed once interrupted() holds; else it runs on to its end
};

/// Runs a command to its end, its stdin empty, collecting both streams as far as `limits` says. Past the time limit its
/// whole group is killed; negative: no limit. Throws Error(kEnvironment) if it cannot be started.
CommandResult run_command(const std::vector<std::string>& argv, double timeout_s,
                          const std::vector<std::pair<std::string, std::string>>& extra_env = {},
                          const CommandLimits& limits = {});

/// Fills the places of standard streams that whoever started this process closed, before a file or a pipe of ours gets
/// one and what is printed goes into it. What is written to a closed stdout still fails; stderr's is dropped.
void fill_standard_streams();

/// True after Ctrl-C, SIGTERM or SIGHUP, once install_interrupt_handler was called. A second one ends the process at
/// once with 130; what comes within 0.2 s of the first is the same request sent twice, as timeout(1) does.
bool interrupted();
void install_interrupt_handler();

/// While it lives the first one ends the process, with 130: for what neither asks interrupted() nor leaves anything
/// behind. Throws Error(kInterrupted) where there was one already.
class EndsAtInterrupt {
 public:
  EndsAtInterrupt();
  ~EndsAtInterrupt();
  EndsAtInterrupt(const EndsAtInterrupt&) = delete;
  EndsAtInterrupt& operator=(const EndsAtInterrupt&) = delete;
};

}  // namespace ktune
