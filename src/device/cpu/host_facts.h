#pragma once

#include "model/facts.h"

namespace ktune::device::cpu {

/// Threads of a block and bytes of dynamic shared memory as on an H200, so that the same variants pass as there.
inline constexpr int kMaxBlockThreads = 1024;
inline constexpr int kSharedBytes = 232448;

/// The host as a device. `l2_bytes` is the host's own last-level cache, `sm_count` the number of OS threads that run
/// blocks, `sm` 90 (what kernels may ask for). No bandwidth is claimed: its times say nothing of a GPU.
model::DeviceFacts host_facts(bool sanitize, int os_threads);

/// Clock of the first core, where the system says it.
model::MachineState host_state();

/// OS threads to run blocks on: the cores this process may use, 16 at most (each takes address space for the stacks of
/// a block); one in a sanitized run.
int block_threads(bool sanitize);

}  // namespace ktune::device::cpu
