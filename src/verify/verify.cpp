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
                              std::int64_t index, std::uint32_t poison) {
  const std::int64_t size = model::size_of(plan.dtype);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(size));
  const std::int64_t at = index * size;
  if (const model::Status done = device.read(bytes.data(), base + static_cast<device::DevicePtr>(at), size); !done) {
    return tl::unexpected(done.error());
  }
  unsigned char pattern[4];
  std::memcpy(pattern, &poison, sizeof pattern);
  for (std::int64_t i = 0; i < size; ++i) {
    if (bytes[static_cast<std::size_t>(i)] != pattern[(at + i) % 4]) return false;
  }
  return true;
}

model::Result<FirstWrong> classify(device::Device& device, const device::OutputCheck& check,
                                   const device::CompareResult& result) {
  if (result.unwritten == 0) return FirstWrong::kDiffers;
  const auto out_poison = is_poison(device, check.out, check.plan, result.first, check.poison.out);
  if (!out_poison) return tl::unexpected(out_poison.error());
  if (*out_poison) return FirstWrong::kUnwritten;
  const auto ref_poison = is_poison(device, check.reference, check.plan, result.first, check.poison.reference);
  if (!ref_poison) return tl::unexpected(ref_poison.error());
  return *ref_poison ? FirstWrong::kStray : FirstWrong::kDiffers;
}

/// Adds what is wrong with each output to `reasons`, and raises the report's margin.
model::Status compare_outputs(device::Device& device, const std::vector<device::OutputCheck>& checks,
                              Verification& report, std::vector<std::string>& reasons) {
  for (const device::OutputCheck& check : checks) {
    const model::Result<device::CompareResult> result =
        device.compare(check.out, check.reference, check.plan, check.poison);
    if (!result) return tl::unexpected(result.error());
    report.margin = std::max(report.margin, result->worst_margin);
    if (is_right(*result, check.plan.tolerance)) continue;
    const model::Result<FirstWrong> first = classify(device, check, *result);
    if (!first) return tl::unexpected(first.error());
    reasons.push_back(compare_text(check.plan, *result, *first));
  }
  return {};
}

/// One run over given memory contents.
model::Result<Verification> run_once(ProblemMemory& memory, LoadedVariant& variant, const Patterns& patterns) {
  device::Device& device = memory.device();
  model::Status done = memory.set(0).restore(patterns);
  if (done) done = prepare_scratch(device, variant.scratch, memory.plan().seed, patterns);
  if (!done) return tl::unexpected(done.error());
  const model::Result<device::TimedCall> call = timed_call(memory, variant, 0);
  if (!call) return tl::unexpected(call.error());
  done = device.launch(call->launches);
  if (done) done = device.synchronize();
  if (!done) return tl::unexpected(done.error());
  return inspect_outputs(memory, variant, 0);
}

}  // namespace

model::Result<LoadedVariant> load_variant(ProblemMemory& memory, device::ModuleId module, model::VariantPlan plan) {
  if (const model::Status sound = check_tensors(plan.scratch); !sound) return tl::unexpected(sound.error());
  model::Result<BufferSet> scratch = BufferSet::allocate(memory.device(), plan.scratch, "scratch ");
  if (!scratch) return tl::unexpected(scratch.error());
  LoadedVariant variant{module, std::move(plan), std::move(*scratch)};
  const model::Result<device::TimedCall> call = timed_call(memory, variant, 0);
  if (!call) return tl::unexpected(call.error());
  for (const device::PreparedLaunch& launch : call->launches) {
    if (const model::Status fits = memory.device().check(launch); !fits) return tl::unexpected(fits.error());
  }
  return variant;
}

model::Result<device::TimedCall> timed_call(const ProblemMemory& memory, const LoadedVariant& variant, int set) {
  const InputSet& inputs = memory.set(set);
  Addresses addresses;
  add_addresses(inputs.tensors(), addresses);
  add_addresses(variant.scratch, addresses);
  model::Result<device::LaunchSequence> launches = prepare_launches(variant.plan.launches, variant.module, addresses);
  if (!launches) return tl::unexpected(launches.error());
  return device::TimedCall{std::move(*launches), inputs.renewals(), inputs.checks()};
}

model::Result<Verification> run_and_inspect(ProblemMemory& memory, LoadedVariant& variant) {
  model::Result<Verification> first = run_once(memory, variant, kPatterns[0]);
  if (!first || !first->ok) return first;
  if (const model::Status kept = memory.keep_outputs(); !kept) return tl::unexpected(kept.error());
  model::Result<Verification> second = run_once(memory, variant, kPatterns[1]);
  if (!second) return second;
  second->margin = std::max(second->margin, first->margin);
  if (!second->ok) {
    second->reason = two_runs_text(second->reason);
    return second;
  }
  model::Result<std::string> varies = memory.difference_from_kept(kPatterns[0]);
  if (!varies) return tl::unexpected(varies.error());
  second->varies = std::move(*varies);
  if (second->varies.empty() || memory.plan().may_vary) return second;
  second->ok = false;
  second->reason = nondeterministic_text(second->varies);
  return second;
}

model::Result<Verification> inspect_outputs(ProblemMemory& memory, const LoadedVariant& variant, int set) {
  device::Device& device = memory.device();
  Verification report;
  Damage damage;
  if (const model::Status done = compare_outputs(device, memory.set(set).checks(), report, damage.reasons); !done)
    return tl::unexpected(done.error());
  model::Status inspected = inspect_guards(device, variant.scratch, damage);
  if (inspected) inspected = memory.set(set).inspect(damage);
  if (!inspected) return tl::unexpected(inspected.error());
  report.lasting = damage.lasting;
  report.ok = damage.reasons.empty();
  report.reason = join(damage.reasons, "; ");
  return report;
}

model::Result<Verification> run_on_other_values(ProblemMemory& memory, const LoadedVariant& variant, int set) {
  const bool alone = memory.sets() == 1;
  const int other = alone ? set : (set + 1) % memory.sets();
  InputSet& inputs = memory.set(set);
  model::Status done = alone ? memory.reseed(set) : inputs.take_values(memory.set(other));
  if (done) done = inputs.restore(kPatterns[0]);
  if (!done) return tl::unexpected(done.error());
  const model::Result<device::TimedCall> call = timed_call(memory, variant, set);
  if (!call) return tl::unexpected(call.error());
  done = memory.device().launch(call->launches);
  if (done) done = memory.device().synchronize();
  if (!done) return tl::unexpected(done.error());
  std::vector<device::OutputCheck> checks = inputs.checks();
  const std::vector<device::OutputCheck> expected = memory.set(other).checks();
  for (std::size_t i = 0; i < checks.size(); ++i) {
    checks[i].reference = expected[i].reference;
    checks[i].plan.tolerance = expected[i].plan.tolerance;
  }
  Verification report;
  std::vector<std::string> reasons;
  if (done = compare_outputs(memory.device(), checks, report, reasons); !done) return tl::unexpected(done.error());
  report.ok = reasons.empty();
  report.reason = join(reasons, "; ");
  if (!alone) done = inputs.refill();
  if (done) done = inputs.restore(kPatterns[0]);
  if (!done) return tl::unexpected(done.error());
  return report;
}

/// What stood at the first wrong element is gone by now where later launches wrote there: told from the values.
model::Result<std::string> wrong_launch_text(ProblemMemory& memory, const device::WrongLaunch& wrong) {
  const device::OutputCheck check = memory.set(static_cast<int>(wrong.set)).checks()[wrong.check];
  const FirstWrong first = wrong.result.unwritten > 0 ? FirstWrong::kUnwritten : FirstWrong::kDiffers;
  return compare_text(check.plan, wrong.result, first);
}

}  // namespace ktune::verify
