#include <algorithm>
#include <cmath>
#include <random>

#include "base/hash.h"
#include "device/device.h"

namespace ktune::device {
namespace {

std::uint64_t secret() {
  static const std::uint64_t drawn =
      (static_cast<std::uint64_t>(std::random_device{}()) << 32) | std::random_device{}();
  return drawn;
}

}  // namespace

model::Status renew(Device& device, const TimedCall& call) {
  for (const Renewal& renewal : call.renewals) {
    const model::Status done = renewal.from != 0 ? device.copy(renewal.to, renewal.from, renewal.bytes)
                                                 : device.poison(renewal.to, renewal.bytes, renewal.pattern);
    if (!done) return done;
  }
  return {};
}

model::Status launch_fresh(Device& device, const TimedCall& call) {
  const model::Status renewed = renew(device, call);
  return renewed ? device.launch(call.launches) : renewed;
}

double most_rms_margin(const model::Tolerance& tolerance, std::int64_t elements) {
  const double count = static_cast<double>(std::max<std::int64_t>(elements, 1));
  return std::min(1.0, tolerance.rms * (1.0 + 3.0 / std::sqrt(count)));
}

bool is_right(const CompareResult& result, const model::Tolerance& tolerance) {
  return result.mismatches + result.unwritten == 0 && result.rms_margin <= most_rms_margin(tolerance, result.elements);
}

Share share_of(const model::TensorPlan& plan, std::int64_t most_bytes, int launch) {
  Share share;
  share.period = std::max<std::int64_t>((plan.storage_bytes() + most_bytes - 1) / most_bytes, 1);
  const std::uint64_t drawn = hash_64(plan.name, secret() + static_cast<std::uint64_t>(launch));
  share.phase = static_cast<std::int64_t>(drawn % static_cast<std::uint64_t>(share.period));
  return share;
}

model::Result<std::optional<WrongLaunch>> check_outputs(Device& device, std::span<const TimedCall> rotation, int sample,
                                                        std::int64_t most_bytes) {
  const std::size_t set = static_cast<std::size_t>(sample) % rotation.size();
  const std::vector<OutputCheck>& checks = rotation[set].checks;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const OutputCheck& check = checks[i];
    const auto result =
        device.compare(check.out, check.reference, check.plan, check.poison, share_of(check.plan, most_bytes, sample));
    if (!result) return tl::unexpected(result.error());
    if (!is_right(*result, check.plan.tolerance)) return WrongLaunch{sample, set, i, *result};
  }
  return std::optional<WrongLaunch>();
}

}  // namespace ktune::device
