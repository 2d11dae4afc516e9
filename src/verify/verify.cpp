#include "verify/verify.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/text.h"
#include "verify/plan_check.h"
#include "verify/reasons.h"

namespace ktune::verify {
namespace {

/// Whether the element's bytes are the poison's at that place.
model::Result<bool> is_poison(device::Device& device, device::DevicePtr base, const model::TensorPlan& plan,
                              std::int64_t index) {
  const std::int64_t size = model::size_of(plan.dtype);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(size));
  const std::int64_t at = index * size;
  if (const model::Status done = device.read(bytes.data(), base + static_cast<device::DevicePtr>(at), size); !done) {
    return tl::unexpected(done.error());
  }
  unsigned char pattern[4];
  std::memcpy(pattern, &kPoison, sizeof pattern);
  for (std::int64_t i = 0; i < size; ++i) {
    if (bytes[static_cast<std::size_t>(i)] != pattern[(at + i) % 4]) return false;
  }
  return true;
}

model::Result<FirstWrong> classify(device::Device& device, const BufferSet::Entry& out, const BufferSet::Entry& ref,
                                   const device::CompareResult& result) {
  if (result.unwritten == 0) return FirstWrong::kDiffers;
  const model::Result<bool> out_poison = is_poison(device, out.buffer.base, out.plan, result.first);
  if (!out_poison) return tl::unexpected(out_poison.error());
  if (*out_poison) return FirstWrong::kUnwritten;
  const model::Result<bool> ref_poison = is_poison(device, ref.buffer.base, out.plan, result.first);
  if (!ref_poison) return tl::unexpected(ref_poison.error());
  return *ref_poison ? FirstWrong::kStray : FirstWrong::kDiffers;
}

}  // namespace

model::Result<LoadedVariant> load_variant(ProblemMemory& memory, device::ModuleId module, model::VariantPlan plan) {
  if (const model::Status sound = check_tensors(plan.scratch); !sound) return tl::unexpected(sound.error());
  model::Result<BufferSet> scratch = BufferSet::allocate(memory.device(), plan.scratch, "scratch ");
  if (!scratch) return tl::unexpected(scratch.error());
  LoadedVariant variant{module, std::move(plan), std::move(*scratch)};
  const model::Result<device::LaunchSequence> launches = launches_on(memory, variant, 0);
  if (!launches) return tl::unexpected(launches.error());
  for (const device::PreparedLaunch& launch : *launches) {
    if (const model::Status fits = memory.device().check(launch); !fits) return tl::unexpected(fits.error());
  }
  return variant;
}

model::Result<device::LaunchSequence> launches_on(const ProblemMemory& memory, const LoadedVariant& variant, int set) {
  Addresses addresses;
  add_addresses(memory.set(set), addresses);
  add_addresses(variant.scratch, addresses);
  return prepare_launches(variant.plan.launches, variant.module, addresses);
}

model::Result<Verification> run_and_inspect(ProblemMemory& memory, const LoadedVariant& variant, int set) {
  const model::Result<device::LaunchSequence> launches = launches_on(memory, variant, set);
  if (!launches) return tl::unexpected(launches.error());
  if (const model::Status done = memory.restore(set); !done) return tl::unexpected(done.error());
  if (const model::Status done = prepare_scratch(memory.device(), variant.scratch, memory.plan().seed); !done) {
    return tl::unexpected(done.error());
  }
  if (const model::Status done = memory.device().launch(*launches); !done) return tl::unexpected(done.error());
  if (const model::Status done = memory.device().synchronize(); !done) return tl::unexpected(done.error());
  return inspect_outputs(memory, variant, set);
}

model::Result<Verification> inspect_outputs(ProblemMemory& memory, const LoadedVariant& variant, int set) {
  device::Device& device = memory.device();
  Verification report;
  std::vector<std::string> reasons;
  for (const BufferSet::Entry& ref : memory.reference().entries()) {
    const BufferSet::Entry& out = *memory.set(set).find(ref.plan.name);
    const model::Result<device::CompareResult> result =
        device.compare(out.buffer.base, ref.buffer.base, ref.plan, kPoison);
    if (!result) return tl::unexpected(result.error());
    report.margin = std::max(report.margin, result->worst_margin);
    if (result->mismatches == 0 && result->unwritten == 0) continue;
    const model::Result<FirstWrong> first = classify(device, out, ref, *result);
    if (!first) return tl::unexpected(first.error());
    reasons.push_back(compare_text(ref.plan, *result, *first));
  }
  const model::Result<ProblemMemory::Damage> damage = memory.inspect(set, variant.scratch);
  if (!damage) return tl::unexpected(damage.error());
  reasons.insert(reasons.end(), damage->reasons.begin(), damage->reasons.end());
  report.lasting = damage->lasting;
  report.ok = reasons.empty();
  report.reason = join(reasons, "; ");
  return report;
}

}  // namespace ktune::verify
