#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>
#include <unordered_map>

#include "base/error.h"
#include "base/files.h"
#include "base/own_binary.h"
#include "base/process.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "compile/cache.h"
#include "compile/compile.h"
#include "compile/host_compiler.h"
#include "compile/job.h"

// Processes and not threads: NVRTC serialises inside a process (64 variants: 16 threads 2.4 s, 16 processes 0.66 s), a
// compile that hangs can only be ended by killing, and a compiler that crashes must cost one variant. A process is
// started when a job first needs it and then kept, since its first compile costs twice the others.
//
// One thread, no locks: work moves on inside submit and wait. Each wait collects every finished job and hands every
// idle process the next one, so processes stay busy while the caller measures, one job ahead each.

namespace ktune::compile {
namespace {

constexpr double kHostGraceS = 2.0;

struct Job {
  std::string key;
  CompileJob job;
  std::vector<std::int64_t> tickets;  ///< the same job, asked for more than once while it was under way
};

struct Slot {
  std::optional<ChildProcess> process;
  std::shared_ptr<Job> job;
  double deadline_s = 0.0;
};

}  // namespace

struct CompilePool::Impl {
  std::string cache_dir;
  /// For the processes' temporary files, since one that is killed cleans up nothing: made for the first of them, and
  /// before the slots, so that it goes when their processes are gone.
  std::optional<TemporaryFolder> scratch;
  std::vector<Slot> slots;
  std::deque<std::shared_ptr<Job>> queue;
  std::unordered_map<std::string, std::shared_ptr<Job>> under_way;  ///< queued or running, by key
  std::deque<CompileResult> done;
  std::int64_t next_ticket = 1;
  int pending = 0;

  void finish(Slot& slot, const model::Result<model::KernelBinary>& result) {
    for (const std::int64_t ticket : slot.job->tickets) done.push_back({ticket, result});
    under_way.erase(slot.job->key);
    slot.job.reset();
  }

  void start_process(Slot& slot) {
    std::vector<std::pair<std::string, std::string>> environment;
    try {
      if (!scratch) scratch.emplace(std::filesystem::temp_directory_path(), "ktune-pool", "");
      environment = {{"TMPDIR", scratch->path().string()}};
    } catch (const std::exception&) {  // NVRTC needs none, and a host compiler's process says it itself
    }
    slot.process.emplace(std::vector<std::string>{own_binary(), "compile-worker"}, environment);
  }

  void start(Slot& slot) {
    slot.job = std::move(queue.front());
    queue.pop_front();
    // A host compiler is a tree of processes: its worker, which knows them, ends them at the deadline; from here only
    // the worker could be killed, and what it started would go on.
    const double grace_s = is_host_target(slot.job->job.target) ? kHostGraceS : 0.0;
    slot.deadline_s = now_s() + slot.job->job.deadline_s + grace_s;
    const std::string line = request_line(slot.job->job, cache_dir);
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (!slot.process) start_process(slot);
      if (slot.process->write_line(line)) return;
      slot.process.reset();  // it died while idle: one fresh try
    }
    finish(slot, model::fail_transient(model::Outcome::kCompileFailed, "the compile process does not start"));
  }

  void dispatch() {
    for (Slot& slot : slots) {
      if (queue.empty()) return;
      if (!slot.job) start(slot);
    }
  }

  void end_dead(Slot& slot) {
    const auto status = slot.process->wait(5.0);
    const std::string how = status ? status->text() : "it closed its output";
    finish(slot, model::fail_transient(model::Outcome::kCompileFailed, fmt::format("the compiler crashed: {}", how),
                                       slot.process->stderr_tail()));
    slot.process.reset();
  }

  /// Takes an answer, a death or a missed deadline of one process.
  void collect(Slot& slot) {
    if (!slot.job) return;
    if (const auto line = slot.process->read_line(0.0)) {
      finish(slot, read_answer(*line));
    } else if (slot.process->at_end()) {
      end_dead(slot);
    } else if (now_s() >= slot.deadline_s) {
      slot.process->kill();
      finish(slot, model::fail(model::Outcome::kTimedOut,
                               fmt::format("compiling took longer than {:g} s", slot.job->job.deadline_s)));
      slot.process.reset();
    }
  }

  /// Sleeps until a process says something, a deadline passes or the time is up.
  void sleep(double until_s) {
    std::vector<pollfd> fds;
    for (const Slot& slot : slots) {
      if (!slot.job) continue;
      fds.push_back({slot.process->read_fd(), POLLIN, 0});
      until_s = std::min(until_s, slot.deadline_s);
    }
    const double wait_ms = std::clamp(std::ceil((until_s - now_s()) * 1e3), 0.0, 1e6);
    poll(fds.data(), fds.size(), static_cast<int>(wait_ms));
  }

  bool busy() const {
    return !queue.empty() ||
           std::any_of(slots.begin(), slots.end(), [](const Slot& slot) { return slot.job != nullptr; });
  }

  void advance() {
    for (Slot& slot : slots) collect(slot);
    dispatch();
  }
};

CompilePool::CompilePool(std::string cache_dir, int jobs) : impl_(std::make_unique<Impl>()) {
  std::error_code error;
  std::filesystem::create_directories(cache_dir, error);
  if (error) {
    throw Error(ErrorKind::kEnvironment, fmt::format("cannot create {}: {}", cache_dir, error.message()),
                "set KTUNE_CACHE_DIR to a folder that can be written");
  }
  impl_->cache_dir = std::move(cache_dir);
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  impl_->slots.resize(static_cast<std::size_t>(jobs > 0 ? jobs : cores));
}

CompilePool::~CompilePool() = default;

std::int64_t CompilePool::submit(CompileJob job) {
  Impl& impl = *impl_;
  std::string key = cache_key(job);
  const std::int64_t ticket = impl.next_ticket++;
  ++impl.pending;
  if (job.target == "fake") {
    model::KernelBinary binary;
    binary.key = key;
    binary.target = job.target;
    impl.done.push_back({ticket, std::move(binary)});
  } else if (auto cached = find_cached(impl.cache_dir, key, job.target)) {
    impl.done.push_back({ticket, std::move(*cached)});
  } else if (const auto same = impl.under_way.find(key); same != impl.under_way.end()) {
    same->second->tickets.push_back(ticket);
  } else {
    auto fresh = std::make_shared<Job>(Job{key, std::move(job), {ticket}});
    impl.under_way.emplace(std::move(key), fresh);
    impl.queue.push_back(std::move(fresh));
  }
  impl.advance();
  return ticket;
}

std::optional<CompileResult> CompilePool::wait(double timeout_s) {
  Impl& impl = *impl_;
  const double end_s = timeout_s < 0 ? INFINITY : now_s() + timeout_s;
  impl.advance();
  while (impl.done.empty()) {
    if (!impl.busy() || now_s() >= end_s) return std::nullopt;
    impl.sleep(end_s);
    impl.advance();
  }
  CompileResult result = std::move(impl.done.front());
  impl.done.pop_front();
  --impl.pending;
  return result;
}

int CompilePool::pending() const { return impl_->pending; }

int CompilePool::jobs() const { return static_cast<int>(impl_->slots.size()); }

model::Result<model::KernelBinary> compile_one(const CompileJob& job, const std::string& cache_dir) {
  CompilePool pool(cache_dir, 1);
  pool.submit(job);
  const auto result = pool.wait(-1.0);
  KTUNE_CHECK(result.has_value());
  return result->binary;
}

int compile_worker_main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << answer_line(line) << '\n' << std::flush;
    if (!std::cout) return 0;  // the parent is gone
  }
  return 0;
}

}  // namespace ktune::compile
