#include "probe/selftest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "compile/builtin_code.h"
#include "measure/measure.h"
#include "probe/eviction_proof.h"
#include "stats/stats.h"

namespace ktune::probe {
namespace {

using device::Device;
using device::Probe;
using model::Timer;
using Grade = SelfTestRow::Grade;

constexpr double kSpinUs = 20.0;
constexpr double kSpinShare = 0.1;
constexpr double kSpinOverheadUs = 3.5;  // what an event pair, or a launch within a graph, may add to it
constexpr int kSamples = 100;
constexpr int kLatticeSamples = 400;
constexpr std::int64_t kCopyBytes = std::int64_t{16} << 20;
constexpr int kAaPairs = 24;
constexpr int kBlockSamples = 50;
constexpr int kGatePairs = 8;
constexpr double kDistinctUs = 1e-4;  // floats of milliseconds differ by less in their last bits

model::Result<std::vector<double>> probe(Device& device, const Probe& what, int samples, Timer timer) {
  return device.time_probe(what, {samples, model::CacheState::kCold, timer});
}

SelfTestRow failed(const std::string& what, const model::Failure& failure, Grade grade = Grade::kBad) {
  return {what, "–", grade, failure.reason};
}

/// The device's event timer: CUDA's events, or what stands for them elsewhere.
Timer pair_timer(Device& device) { return device.timers().empty() ? Timer::kEvents : device.timers().front(); }

void test_spin(Device& device, Timer timer, std::vector<SelfTestRow>& rows) {
  const std::string what = fmt::format("a {:.0f} µs kernel by {}", kSpinUs, model::name_of(timer));
  if (const std::string problem = device.timer_problem(timer); !problem.empty()) {
    rows.push_back({what, "–", timer == Timer::kEvents ? Grade::kBad : Grade::kNote,
                    fmt::format("no {} timer here: {}", model::name_of(timer), problem)});
    return;
  }
  const auto times = probe(device, {Probe::Kind::kSpin, kSpinUs, 0}, kSamples, timer);
  if (!times) {
    rows.push_back(failed(what, times.error()));
    return;
  }
  const double us = stats::median(*times);
  const bool right = us >= (1.0 - kSpinShare) * kSpinUs && us <= (1.0 + kSpinShare) * kSpinUs + kSpinOverheadUs;
  rows.push_back({what, fmt::format("{:.2f} µs", us), right ? Grade::kGood : Grade::kBad,
                  right ? "" : "this timer's figures mean nothing here"});
}

void test_costs(Device& device, std::vector<SelfTestRow>& rows) {
  const Timer timer = pair_timer(device);
  const std::string name(model::name_of(timer));
  const auto row = [&](const std::string& what, const Probe& kernel, const std::string& remark) {
    const auto times = probe(device, kernel, kSamples, timer);
    if (times) {
      rows.push_back({what, fmt::format("{:.2f} µs", stats::median(*times)), Grade::kGood, remark});
    } else {
      rows.push_back(failed(what, times.error()));
    }
  };
  row(fmt::format("an empty pair of {}", name), {Probe::Kind::kNothing, 0.0, 0}, "is in every time; never subtracted");
  row(fmt::format("an empty kernel by {}", name), {Probe::Kind::kEmpty, 0.0, 0}, "");
  const auto times = probe(device, {Probe::Kind::kCopy, 0.0, kCopyBytes}, kLatticeSamples, timer);
  if (!times) {
    rows.push_back(failed("lattice of " + name, times.error()));
    return;
  }
  const auto step = lattice_us(*times);
  rows.push_back({"lattice of " + name, step ? fmt::format("{:.4f} µs", *step) : "–", Grade::kGood,
                  step ? "one sample tells no less apart; means of many do" : "all samples are equal"});
}

/// One kernel against itself, in blocks A B B A …: what differs here is not the kernel.
void test_itself(Device& device, std::vector<SelfTestRow>& rows) {
  const std::string what = fmt::format("a {} copy against itself", format_bytes(kCopyBytes));
  const Timer timer = pair_timer(device);
  std::vector<double> ratios;
  std::vector<double> blocks;
  for (int pair = 0; pair < kAaPairs; ++pair) {
    double sides[2] = {0.0, 0.0};
    for (int turn = 0; turn < 2; ++turn) {
      const auto times = probe(device, {Probe::Kind::kCopy, 0.0, kCopyBytes}, kBlockSamples, timer);
      if (!times) {
        rows.push_back(failed(what, times.error()));
        return;
      }
      sides[(turn + pair) % 2] = stats::trimmed_mean(*times, measure::kTrimmed);
      blocks.push_back(sides[(turn + pair) % 2]);
    }
    ratios.push_back(std::log(sides[1] / sides[0]));
  }
  const double shift = 100.0 * std::expm1(stats::hodges_lehmann(ratios));
  rows.push_back({what, fmt::format("{:.3f} µs", stats::median(blocks)), Grade::kGood,
                  fmt::format("{} blocks of {}: {:+.3f} %, p {:.2f}", 2 * kAaPairs, kBlockSamples, shift,
                              stats::signed_rank_p(ratios))});
  rows.push_back(
      {"smallest shift seen", fmt::format("{:.3f} %", detectable_pct(ratios, kGatePairs)), Grade::kGood,
       fmt::format("within a process, {} pairs; `ktune gate --aa` says what processes differ by", kGatePairs)});
}

void test_eviction(const std::function<model::Result<device::EvictionProof>()>& prove, std::vector<SelfTestRow>& rows) {
  const auto proof = prove();
  if (!proof) {
    const model::Failure& failure = proof.error();
    rows.push_back({"counters", "–", Grade::kNote,
                    failure.detail.empty() ? failure.reason : failure.reason + "; " + failure.detail});
    rows.push_back({"eviction", "not proved", Grade::kNote, "it takes the counters"});
    return;
  }
  rows.push_back({"counters", "allowed", Grade::kGood, "--counters can be used"});
  rows.push_back({"eviction", proves(*proof) ? "proved" : "NOT proved", proves(*proof) ? Grade::kGood : Grade::kBad,
                  proof_text(*proof)});
}

}  // namespace

std::optional<double> lattice_us(std::span<const double> times_us) {
  std::vector<double> sorted(times_us.begin(), times_us.end());
  std::sort(sorted.begin(), sorted.end());
  std::optional<double> step;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const double gap = sorted[i] - sorted[i - 1];
    if (gap > kDistinctUs && (!step || gap < *step)) step = gap;
  }
  return step;
}

double detectable_pct(std::span<const double> log_ratios, int pairs) {
  // One-sided normal quantiles of p = 0.02 and of a power of 0.9; the signed-rank test has 3/π of the t-test's
  // efficiency.
  constexpr double kQuantiles = 2.054 + 1.282;
  constexpr double kEfficiency = 0.9549;
  const double sd = stats::standard_deviation(log_ratios);
  return 100.0 * std::expm1(kQuantiles * sd / std::sqrt(kEfficiency * pairs));
}

std::vector<SelfTestRow> self_test(Device& device, const std::function<model::Result<device::EvictionProof>()>& prove) {
  std::vector<SelfTestRow> rows;
  // Events first: with CUPTI's tracing set up in the process they may come out longer.
  test_costs(device, rows);
  test_itself(device, rows);
  std::vector<Timer> timers = device.timers();
  // Where there is a choice, a timer that cannot be had here is named with the reason.
  if (model::auto_decides(device.facts().kind)) timers = model::timers_of(device.facts().kind);
  // CUPTI comes last: what it leaves loaded could disturb the others.
  std::stable_partition(timers.begin(), timers.end(),
                        [](Timer timer) { return row_of(timer).needs != model::TimerNeeds::kCupti; });
  for (const Timer timer : timers) test_spin(device, timer, rows);
  test_eviction(prove, rows);
  return rows;
}

SelfTest run_selftest(const std::string& name) {
  std::unique_ptr<Device> device;
  try {
    device = compile::open_device(name);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kEnvironment) throw;
    throw Error(ErrorKind::kEnvironment, "the self-test needs the device: " + error.message(), error.hint());
  }
  if (const auto any = probe(*device, {}, 1, pair_timer(*device)); !any) {
    throw Error(ErrorKind::kEnvironment,
                fmt::format("nothing to test the clock of {} with: {}", name, any.error().reason),
                "the self-test times kernels of known duration: it needs a GPU");
  }
  const model::DeviceFacts facts = device->facts();
  return {facts.name, self_test(*device, [&] { return prove_eviction(name, facts); })};
}

}  // namespace ktune::probe
