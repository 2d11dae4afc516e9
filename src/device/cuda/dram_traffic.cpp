#include "device/cuda/dram_traffic.h"

#include <algorithm>
#include <array>

// A kernel's writes stay in L2 until something pushes them out, so a range around the kernel alone comes out short by
// up to a whole L2 (22.6 MB of a copy's 67 on an H200). So an eviction stands in the range behind the work, and the
// eviction's own traffic, measured alone in the same process, is taken off: 67.19 MB for a write of 67.11.

namespace ktune::device::cuda {
namespace {

using model::Status;

constexpr int kRepeats = 3;
constexpr std::int64_t kProofBytes = std::int64_t{32} << 20;
constexpr std::uint32_t kProofPattern = 0x9d3f70a4;

tl::unexpected<model::Failure> pass(const Status& status) { return tl::unexpected(status.error()); }

/// The middle one of each figure: another process' traffic falls into a range now and then.
DramTraffic middle(std::array<DramTraffic, kRepeats> ranges) {
  std::array<std::int64_t, kRepeats> read{};
  std::array<std::int64_t, kRepeats> written{};
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    read[i] = ranges[i].read;
    written[i] = ranges[i].written;
  }
  std::sort(read.begin(), read.end());
  std::sort(written.begin(), written.end());
  return {read[kRepeats / 2], written[kRepeats / 2]};
}

}  // namespace

Status DramCounting::open() {
  if (Status status = context_.usable(); !status || counters_) return status;
  auto counters = Counters::open(context_);
  if (!counters) return tl::unexpected(counters.error());
  counters_ = std::move(*counters);
  return {};
}

model::Result<DramTraffic> DramCounting::with_eviction(const std::function<Status()>& before,
                                                       const std::function<Status()>& work) {
  std::array<DramTraffic, kRepeats> ranges;
  for (DramTraffic& range : ranges) {
    Status ready = before();
    if (ready) ready = stream_.evict();
    if (ready) ready = context_.synchronize("evicting");
    if (!ready) return pass(ready);
    const auto measured = counters_->measure([&]() -> Status {
      Status done = work();
      if (done) done = stream_.evict();
      return done ? context_.synchronize("running the counted launches") : done;
    });
    if (!measured) return tl::unexpected(measured.error());
    range = *measured;
  }
  return middle(ranges);
}

model::Result<DramTraffic> DramCounting::traffic(const TimedCall& call) {
  if (Status status = open(); !status) return pass(status);
  auto bound = modules_.bind(call.launches);
  if (!bound) return tl::unexpected(bound.error());
  const auto renew = [&] { return stream_.renew(call); };
  const auto alone = with_eviction(renew, [] { return Status(); });
  if (!alone) return alone;
  const auto both = with_eviction(renew, [&] { return modules_.enqueue(*bound); });
  if (!both) return both;
  return DramTraffic{std::max<std::int64_t>(both->read - alone->read, 0),
                     std::max<std::int64_t>(both->written - alone->written, 0)};
}

model::Result<DramTraffic> DramCounting::read_behind(bool evicted, DevicePtr memory) {
  std::array<DramTraffic, kRepeats> ranges;
  for (DramTraffic& range : ranges) {
    Status ready = builtin_.read_sweep(memory, kProofBytes);  // in L2 now, whatever was there before
    if (ready && evicted) ready = stream_.evict();
    if (ready) ready = context_.synchronize("evicting");
    if (!ready) return pass(ready);
    const auto measured = counters_->measure([&]() -> Status {
      Status done = builtin_.read_sweep(memory, kProofBytes);
      return done ? context_.synchronize("reading") : done;
    });
    if (!measured) return measured;
    range = *measured;
  }
  return middle(ranges);
}

model::Result<EvictionProof> DramCounting::prove_eviction() {
  if (Status status = open(); !status) return pass(status);
  CUdeviceptr memory = 0;
  const CUresult result = context_.api().mem_alloc(&memory, static_cast<std::size_t>(kProofBytes));
  if (Status status = context_.status(result, "allocating memory"); !status) return pass(status);
  model::Result<DramTraffic> warm = DramTraffic{};
  model::Result<DramTraffic> cold = DramTraffic{};
  Status filled = builtin_.poison(memory, kProofBytes, kProofPattern);
  if (filled) filled = stream_.evict();
  if (filled) warm = read_behind(false, memory);
  if (filled && warm) cold = read_behind(true, memory);
  context_.api().mem_free(memory);
  if (!filled) return pass(filled);
  if (!warm) return tl::unexpected(warm.error());
  if (!cold) return tl::unexpected(cold.error());
  return EvictionProof{kProofBytes, cold->read, warm->read, cold->written};
}

}  // namespace ktune::device::cuda
