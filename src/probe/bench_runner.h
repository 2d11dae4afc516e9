#pragma once

#include <exception>
#include <map>
#include <set>
#include <string>

#include "base/notices.h"
#include "model/facts.h"
#include "sweep/processes.h"
#include "trial/worker.h"

namespace benchmark {
class State;
}

namespace ktune::probe {

/// What `ktune bench` gives Google Benchmark to run: an iteration is one sample of ktune's own measurement (a timed
/// launch in a worker process, the cache as asked for), its time set by hand. Samples are taken in blocks and dealt out
/// one by one. A kernel is compiled, loaded and verified before its first sample, and again after another one ran.
class BenchRunner {
 public:
  BenchRunner(const model::DeviceFacts& facts, const sweep::ProcessOptions& options, const Notices& notices);

  /// The body of a benchmark. Throws nothing, since Google Benchmark's frames lie between it and the command: what ends
  /// the command is kept, what fails a kernel is said in its line and in failures().
  void run(benchmark::State& state, const sweep::KernelRequest& kernel) noexcept;

  /// How many kernels failed.
  std::size_t failures() const { return failed_.size(); }
  /// Throws what ended the command, if anything did.
  void rethrow() const;

 private:
  void measure(benchmark::State& state, const sweep::KernelRequest& kernel);
  model::Status prepare(const sweep::KernelRequest& kernel);
  model::Result<sweep::ReadyKernel>& compiled(const sweep::KernelRequest& kernel);
  void skip(benchmark::State& state, const sweep::KernelRequest& kernel, const model::Failure& failure);

  const model::DeviceFacts& facts_;
  const sweep::ProcessOptions& options_;
  const Notices& notices_;
  trial::Worker worker_;
  std::map<sweep::SharedProblem, model::Result<sweep::ReadyKernel>> ready_;
  sweep::SharedProblem resident_;
  std::set<sweep::SharedProblem> failed_;
  std::exception_ptr ended_;
};

}  // namespace ktune::probe
