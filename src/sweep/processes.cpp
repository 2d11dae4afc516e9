#include "sweep/processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/process.h"
#include "base/shuffle.h"
#include "base/text.h"
#include "compile/compile.h"
#include "expr/resolve.h"
#include "measure/series.h"
#include "sweep/timer.h"
#include "trial/build.h"
#include "trial/device_lock.h"
#include "trial/trial.h"
#include "trial/worker.h"

namespace ktune::sweep {

namespace {

/// The one variant of a problem that a process holds.
constexpr std::int64_t kOnly = 0;
/// A host's launches take milliseconds to seconds: a few samples tell what there is to tell.
constexpr int kHostSamples = 5;

trial::Worker start_worker(const ProcessOptions& options) {
  trial::Worker worker(options.device, options.trial_deadline_s);
  worker.wait_for_device(options.say, trial::kDeviceWaitS);
  if (!options.expected) return worker;
  const model::DeviceFacts facts = worker.facts();
  const model::DeviceFacts& before = *options.expected;
  if (facts.name != before.name || facts.uuid != before.uuid || facts.driver != before.driver ||
      facts.toolkit != before.toolkit || facts.power_limit_w != before.power_limit_w)
    throw Error(
        ErrorKind::kEnvironment,
        fmt::format("the device changed in mid-run: {} (driver {}, {:g} W), before {} (driver {}, {:g} W)", facts.name,
                    facts.driver, facts.power_limit_w, before.name, before.driver, before.power_limit_w),
        "figures of two devices are not compared: run it again");
  return worker;
}

void stop_if_interrupted() {
  if (interrupted())
    throw Error(ErrorKind::kInterrupted, "interrupted", "a gate keeps nothing of what it began: run it again");
}

template <typename Results>
void stop_at_machine_failures(const Results& results) {
  for (const auto& result : results)
    if (!result && result.error().transient)
      throw Error(ErrorKind::kEnvironment, "the machine failed, not the kernel: " + result.error().reason,
                  result.error().detail);
}

/// Sets the kernel's problem, loads and verifies it.
model::Status make_resident(trial::Worker& worker, const ReadyKernel& kernel) {
  if (model::Status set = worker.set_problem(kernel.prepared->plan, kernel.reference); !set) {
    set.error().reason = "reference: " + set.error().reason;
    return set;
  }
  model::TrialRecord record;
  if (trial::load_and_verify(worker, kOnly, kernel.plan, kernel.binary, record)) return {};
  return model::fail(record.outcome, record.reason, record.detail);
}

model::Result<model::ProcessFigure> time_kernel(trial::Worker& worker, const ReadyKernel& kernel,
                                                const ProcessOptions& options) {
  if (const model::Status resident = make_resident(worker, kernel); !resident) return tl::unexpected(resident.error());
  measure::Request request;
  request.cache_state = options.cache_state;
  if (kernel.timer) request.timer = *kernel.timer;
  request.budget_ms = options.kernel_ms;
  if (worker.facts().kind == "cpu") request.min_samples = request.max_samples = kHostSamples;
  auto report = worker.measure(kOnly, request);
  if (!report) return tl::unexpected(report.error());
  measure::Series series;
  series.add(std::move(*report));
  model::ProcessFigure figure;
  figure.time_us = series.summary().mean_us;
  figure.samples = series.summary().n;
  figure.throttled = series.inconclusive();
  return figure;
}

class Compiles {
 public:
  Compiles(const model::DeviceFacts& facts, const ProcessOptions& options)
      : facts_(facts), options_(options), pool_(compile::binaries_dir(), options.jobs) {}

  std::int64_t submit_reference(const PreparedProblem& prepared) {
    return pool_.submit(trial::reference_job(*prepared.full, prepared.problem, prepared.default_variant, facts_,
                                             options_.compile_deadline_s));
  }
  std::int64_t submit(const KernelRequest& request) {
    return pool_.submit(trial::variant_job(*request.prepared->full, request.prepared->problem, request.variant, facts_,
                                           options_.compile_deadline_s));
  }
  /// Waits for everything that was submitted; Ctrl-C ends the wait.
  void finish() {
    while (pool_.pending() > 0 && !interrupted())
      if (auto result = pool_.wait(1.0)) done_.emplace(result->ticket, std::move(result->binary));
  }
  model::Result<model::KernelBinary> take(std::int64_t ticket) const {
    const auto at = done_.find(ticket);
    return at != done_.end() ? at->second : model::fail(model::Outcome::kCompileFailed, "interrupted");
  }

 private:
  const model::DeviceFacts& facts_;
  const ProcessOptions& options_;
  compile::CompilePool pool_;
  std::map<std::int64_t, model::Result<model::KernelBinary>> done_;
};

model::Result<ReadyKernel> ready_kernel(const KernelRequest& request, model::Result<model::KernelBinary> reference,
                                        model::Result<model::KernelBinary> binary) {
  if (!reference) {
    reference.error().reason = "reference: " + reference.error().reason;
    return tl::unexpected(reference.error());
  }
  if (!binary) return tl::unexpected(binary.error());
  auto plan = expr::resolve_variant(*request.prepared->full, request.prepared->problem, request.prepared->scope,
                                    request.variant);
  if (!plan) return tl::unexpected(plan.error());
  ReadyKernel kernel;
  kernel.prepared = request.prepared;
  kernel.plan = std::move(*plan);
  kernel.reference = std::move(*reference);
  kernel.binary = std::move(*binary);
  return kernel;
}

}  // namespace

std::vector<model::Result<ReadyKernel>> compile_kernels(std::span<const KernelRequest> requests,
                                                        const model::DeviceFacts& facts,
                                                        const ProcessOptions& options) {
  Compiles compiles(facts, options);
  std::vector<std::pair<std::int64_t, std::int64_t>> tickets;
  for (const KernelRequest& request : requests)
    tickets.emplace_back(compiles.submit_reference(*request.prepared), compiles.submit(request));
  compiles.finish();
  stop_if_interrupted();
  std::vector<model::Result<ReadyKernel>> kernels;
  for (std::size_t i = 0; i < requests.size(); ++i)
    kernels.push_back(ready_kernel(requests[i], compiles.take(tickets[i].first), compiles.take(tickets[i].second)));
  stop_at_machine_failures(kernels);
  return kernels;
}

std::vector<model::Result<model::Timer>> decide_timers(std::span<const ReadyKernel> kernels,
                                                       const model::DeviceFacts& facts, const ProcessOptions& options) {
  std::vector<model::Result<model::Timer>> timers;
  if (!options.timer.is_auto()) {
    timers.assign(kernels.size(), *options.timer.named);
    return timers;
  }
  trial::Worker worker = start_worker(options);
  for (const ReadyKernel& kernel : kernels) {
    if (interrupted()) break;
    if (const model::Status resident = make_resident(worker, kernel); !resident) {
      timers.emplace_back(tl::unexpected(resident.error()));
      continue;
    }
    const model::Result<TimerChoice> choice = choose_timer(worker, kOnly, facts, options.cache_state);
    if (choice)
      timers.emplace_back(choice->timer);
    else
      timers.emplace_back(tl::unexpected(choice.error()));
  }
  stop_if_interrupted();
  stop_at_machine_failures(timers);
  return timers;
}

std::vector<model::Status> verify_kernels(std::span<const ReadyKernel> kernels, const ProcessOptions& options) {
  std::vector<model::Status> statuses;
  if (kernels.empty()) return statuses;
  trial::Worker worker = start_worker(options);
  for (const ReadyKernel& kernel : kernels) {
    if (interrupted()) break;
    statuses.push_back(make_resident(worker, kernel));
  }
  stop_if_interrupted();
  stop_at_machine_failures(statuses);
  return statuses;
}

std::vector<model::Result<model::ProcessFigure>> time_in_one_process(std::span<const ReadyKernel> kernels,
                                                                     const ProcessOptions& options,
                                                                     std::uint64_t order_seed) {
  std::vector<std::size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(std::span(order), order_seed);
  std::vector<model::Result<model::ProcessFigure>> figures(kernels.size(),
                                                           model::fail(model::Outcome::kTimedOut, "interrupted"));
  trial::Worker worker = start_worker(options);
  for (const std::size_t i : order) {
    if (interrupted()) break;
    figures[i] = time_kernel(worker, kernels[i], options);
    if (figures[i] && worker.restarts() > 0) figures[i]->throttled = true;
  }
  stop_if_interrupted();
  stop_at_machine_failures(figures);
  return figures;
}

}  // namespace ktune::sweep
