#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/process.h"

namespace ktune {

/// A started child and the parent's ends of its pipes, all non-blocking and close-on-exec.
struct Spawned {
  pid_t pid = -1;
  Fd in;   ///< to its stdin; none: its stdin is /dev/null
  Fd out;  ///< from its stdout
  Fd err;  ///< from its stderr
};

/// Starts argv[0] (looked up in PATH) in a process group of its own, with default signal handling and no other
/// descriptors; the kernel kills it when the thread that called spawn ends. Throws Error(kEnvironment).
Spawned spawn(const std::vector<std::string>& argv, const std::vector<std::pair<std::string, std::string>>& extra_env,
              bool with_stdin);

/// Readable once the process has ended; none on a kernel without pidfds (before 5.3).
Fd open_pidfd(pid_t pid);

enum class ReadState { kGot, kEmpty, kEnd };
/// Appends what a non-blocking descriptor has, one chunk.
ReadState read_some(int fd, std::string& to);

/// The child's end if it has ended; what is left of its group is killed before it is reaped, while its process id
/// cannot be anyone else's.
std::optional<ExitStatus> reap(pid_t pid);

/// Kills the child's group, and those of its own children: a compile worker that is killed takes g++ with it, but not
/// the cc1plus below that, which would go on alone.
void kill_groups(pid_t pid);

/// Milliseconds for poll() until `deadline_s` of now_s(); negative deadline: −1, no limit. Rounded up, so that a wait
/// does not spin through its last millisecond.
int poll_timeout_ms(double deadline_s);
/// now + timeout, −1 (no limit) for a negative one.
double deadline_from(double timeout_s);

}  // namespace ktune
