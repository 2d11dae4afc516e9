#include "probe/bench_runner.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/process.h"
#include "sweep/timer.h"
#include "trial/device_lock.h"
#include "trial/trial.h"

namespace ktune::probe {

namespace {

constexpr std::int64_t kOnly = 0;  ///< the one variant that the worker holds
constexpr std::int64_t kBlock = 256;
constexpr double kMicro = 1e-6;

}  // namespace

BenchRunner::BenchRunner(const model::DeviceFacts& facts, const sweep::ProcessOptions& options, const Notices& notices)
    : facts_(facts), options_(options), notices_(notices), worker_(options.device, options.trial_deadline_s) {
  worker_.wait_for_device(options.say, trial::kDeviceWaitS);
}

void BenchRunner::run(benchmark::State& state, const sweep::KernelRequest& kernel) noexcept {
  if (ended_) return state.SkipWithError("the run was ended");
  try {
    measure(state, kernel);
  } catch (const std::exception& error) {
    ended_ = std::current_exception();
    state.SkipWithError(error.what());
  }
}

void BenchRunner::rethrow() const {
  if (ended_) std::rethrow_exception(ended_);
}

void BenchRunner::measure(benchmark::State& state, const sweep::KernelRequest& kernel) {
  if (const model::Status ready = prepare(kernel); !ready) return skip(state, kernel, ready.error());
  measure::Request request;
  request.cache_state = options_.cache_state;
  request.timer = *compiled(kernel)->timer;
  state.SetLabel(fmt::format("{} timer={}", kernel.variant.text(), name_of(request.timer)));  // auto decides by kernel
  std::vector<double> times_us;
  std::size_t next = 0;
  std::int64_t left = state.max_iterations;
  for (auto _ : state) {
    if (next == times_us.size()) {
      if (interrupted()) throw Error(ErrorKind::kInterrupted, "interrupted");
      request.samples = static_cast<int>(std::min(left, kBlock));
      auto report = worker_.measure(kOnly, request);
      if (!report || report->samples.time_us.empty()) {
        resident_ = nullptr;
        const model::Failure none{model::Outcome::kLaunchFailed, "the device gave no samples", {}};
        skip(state, kernel, report ? none : report.error());
        break;
      }
      times_us = std::move(report->samples.time_us);
      next = 0;
    }
    state.SetIterationTime(times_us[next++] * kMicro);
    --left;
  }
  state.SetBytesProcessed(state.iterations() * kernel.prepared->cost.bytes());
}

model::Result<sweep::ReadyKernel>& BenchRunner::compiled(const sweep::KernelRequest& kernel) {
  const auto at = ready_.find(kernel.prepared);
  if (at != ready_.end()) return at->second;
  auto ready = sweep::compile_kernels({&kernel, 1}, facts_, options_);
  if (interrupted()) throw Error(ErrorKind::kInterrupted, "interrupted");
  return ready_.emplace(kernel.prepared, std::move(ready.front())).first->second;
}

/// Compiled, resident in the worker, verified, and its timer decided.
model::Status BenchRunner::prepare(const sweep::KernelRequest& kernel) {
  auto& ready = compiled(kernel);
  if (!ready) return tl::unexpected(ready.error());
  if (resident_ == kernel.prepared && worker_.is_loaded(kOnly)) return {};
  resident_ = nullptr;
  if (worker_.is_loaded(kOnly)) worker_.unload(kOnly);
  if (model::Status set = worker_.set_problem(kernel.prepared->plan, ready->reference); !set) {
    set.error().reason = "reference: " + set.error().reason;
    return set;
  }
  model::TrialRecord record;
  if (!trial::load_and_verify(worker_, kOnly, ready->plan, ready->binary, record))
    return model::fail(record.outcome, record.reason, record.detail);
  if (!ready->timer) ready->timer = options_.timer.named;
  if (!ready->timer) {
    const auto choice = sweep::choose_timer(worker_, kOnly, facts_, options_.cache_state);
    if (!choice) return tl::unexpected(choice.error());
    ready->timer = choice->timer;
  }
  resident_ = kernel.prepared;
  return {};
}

void BenchRunner::skip(benchmark::State& state, const sweep::KernelRequest& kernel, const model::Failure& failure) {
  state.SkipWithError(fmt::format("{}: {}", name_of(failure.outcome), failure.reason).c_str());
  if (failed_.insert(kernel.prepared).second && !failure.detail.empty())
    notices_.say(fmt::format("{} {} {}\n{}", kernel.prepared->spec->name, kernel.prepared->problem.text(),
                             kernel.variant.text(), failure.detail.substr(0, 2000)));
}

}  // namespace ktune::probe
