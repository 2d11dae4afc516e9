#include "verify/input_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "base/text.h"
#include "verify/reasons.h"

namespace ktune::verify {
namespace {

using model::Role;

/// What the reference's own outputs hold before it runs.
constexpr std::uint32_t kReferencePoison = kPatterns[0].outputs;

model::Result<std::uint64_t> sum_of(device::Device& device, const BufferSet::Entry& entry) {
  return device.checksum(entry.buffer.base, entry.plan.storage_bytes());
}

/// What the root mean square of so many normal values stays above but once in a million, as a share of their standard
/// deviation (the chi-square quantile of Wilson and Hilferty, 1931): a single sum may be next to nothing by chance.
double least_rms(std::int64_t elements) {
  const double spread = 2.0 / (9.0 * static_cast<double>(std::max<std::int64_t>(elements, 1)));
  return std::pow(std::max(0.0, 1.0 - spread - 4.75 * std::sqrt(spread)), 1.5);
}

/// A tolerance says what values of order one are held to. Smaller ones are held to less, by their root mean square: one
/// value in many that is large does not let the others go wrong. Larger ones are allowed more by their mean, so that
/// one outlier does not.
model::Tolerance scaled(model::Tolerance tolerance, const device::CompareResult& reference) {
  if (tolerance.unit <= 0.0 || reference.rms_size <= 0.0 || !std::isfinite(reference.rms_size)) return tolerance;
  const double rms = reference.rms_size / tolerance.unit;
  const double least = least_rms(reference.elements);
  tolerance.atol *= rms < least ? rms / least : std::max(1.0, reference.mean_size / tolerance.unit);
  return tolerance;
}

}  // namespace

model::Status prepare_scratch(device::Device& device, BufferSet& scratch, std::uint64_t seed,
                              const Patterns& patterns) {
  if (const model::Status armed = scratch.arm(patterns.guards); !armed) return armed;
  for (const BufferSet::Entry& entry : scratch.entries()) {
    const model::Status done = entry.plan.init.kind == model::InitKind::kZeros
                                   ? device.initialise(entry.buffer.base, entry.plan, seed)
                                   : device.poison(entry.buffer.base, entry.buffer.bytes, patterns.scratch);
    if (!done) return done;
  }
  return {};
}

model::Status inspect_guards(device::Device& device, const BufferSet& buffers, Damage& damage) {
  for (const BufferSet::Entry& entry : buffers.entries()) {
    const model::Result<std::optional<GuardHit>> hit = find_guard_hit(device, entry.buffer);
    if (!hit) return tl::unexpected(hit.error());
    if (!*hit) continue;
    damage.reasons.push_back(guard_text(entry.label, **hit));
    if (const model::Status done = arm_guards(device, entry.buffer); !done) return done;
  }
  return {};
}

model::Result<InputSet> InputSet::make(device::Device& device, const model::ProblemPlan& plan,
                                       device::ModuleId reference, std::uint64_t seed, std::int64_t shift) {
  InputSet set(device, seed);
  model::Status done = set.allocate(plan, shift);
  if (done) done = set.fill_inputs();
  if (done) done = set.run_reference(plan, reference);
  if (done) done = set.restore(kPatterns[0]);
  if (!done) return tl::unexpected(done.error());
  return set;
}

model::Status InputSet::fill_inputs() {
  for (const BufferSet* buffers : {&tensors_, &pristine_}) {
    for (const BufferSet::Entry& entry : buffers->entries()) {
      if (buffers == &tensors_ && entry.plan.role != Role::kIn) continue;
      if (const model::Status done = fill(entry); !done) return done;
      const model::Result<std::uint64_t> sum = sum_of(*device_, entry);
      if (!sum) return tl::unexpected(sum.error());
      (buffers == &tensors_ ? checksums_[entry.plan.name] : kept_checksums_[entry.label]) = *sum;
    }
  }
  return {};
}

model::Status InputSet::take_values(const InputSet& other) {
  for (const BufferSet::Entry& entry : tensors_.entries()) {
    if (entry.plan.role == Role::kOut) continue;
    const bool in_place = entry.plan.role == Role::kInOut;
    const BufferSet::Entry& to = in_place ? *pristine_.find(entry.plan.name) : entry;
    const BufferSet::Entry& from = *(in_place ? other.pristine_ : other.tensors_).find(entry.plan.name);
    if (const model::Status done = device_->copy(to.buffer.base, from.buffer.base, entry.plan.storage_bytes()); !done)
      return done;
  }
  return {};
}

model::Status InputSet::reseed(const model::ProblemPlan& plan, device::ModuleId reference, std::uint64_t seed) {
  seed_ = seed;
  kept_checksums_.clear();
  model::Status done = fill_inputs();
  if (done) done = launch_reference(plan, reference, reference_, kPatterns[0]);
  for (const BufferSet::Entry& entry : reference_.entries()) {
    if (!done) return done;
    const auto same = device_->compare(entry.buffer.base, entry.buffer.base, entry.plan, {});
    if (!same) return tl::unexpected(same.error());
    done = keep(entry, *same);
  }
  return done;
}

model::Status InputSet::allocate(const model::ProblemPlan& plan, std::int64_t shift) {
  std::vector<model::TensorPlan> outputs;
  std::vector<model::TensorPlan> in_place;
  for (const model::TensorPlan& tensor : plan.tensors) {
    if (tensor.role != Role::kIn) outputs.push_back(tensor);
    if (tensor.role == Role::kInOut) in_place.push_back(tensor);
  }
  const auto make = [&](const std::vector<model::TensorPlan>& tensors, const char* prefix,
                        BufferSet& to) -> model::Status {
    model::Result<BufferSet> buffers = BufferSet::allocate(*device_, tensors, prefix, shift);
    if (!buffers) return tl::unexpected(buffers.error());
    to = std::move(*buffers);
    return {};
  };
  model::Status done = make(plan.tensors, "", tensors_);
  if (done) done = make(in_place, "the untouched copy of ", pristine_);
  if (done) done = make(outputs, "the reference's ", reference_);
  return done;
}

model::Status InputSet::fill(const BufferSet::Entry& entry) {
  return device_->initialise(entry.buffer.base, entry.plan, hash_64(entry.plan.name, seed_));
}

/// Twice, over other memory contents: an element that holds its poison both times was never written. Once would do for
/// all but one-byte elements, which may rightly equal the poison.
model::Status InputSet::run_reference(const model::ProblemPlan& plan, device::ModuleId reference) {
  if (const model::Status done = launch_reference(plan, reference, reference_, kPatterns[0]); !done) return done;
  if (const model::Status done = launch_reference(plan, reference, tensors_, kPatterns[1]); !done) return done;
  patterns_ = kPatterns[1];
  for (const BufferSet::Entry& entry : reference_.entries()) {
    if (const model::Status done = look_at_reference(entry); !done) return done;
  }
  return {};
}

/// What the reference gave for an output, and must never change.
model::Status InputSet::keep(const BufferSet::Entry& entry, const device::CompareResult& reference) {
  sizes_[entry.plan.name] = reference.mean_size;
  tolerances_[entry.plan.name] = scaled(entry.plan.tolerance, reference);
  const model::Result<std::uint64_t> sum = sum_of(*device_, entry);
  if (!sum) return tl::unexpected(sum.error());
  kept_checksums_[entry.label] = *sum;
  return {};
}

model::Status InputSet::launch_reference(const model::ProblemPlan& plan, device::ModuleId reference,
                                         const BufferSet& outputs, const Patterns& patterns) {
  model::Result<BufferSet> scratch = BufferSet::allocate(*device_, plan.reference_scratch, "scratch ");
  if (!scratch) return tl::unexpected(scratch.error());
  for (const BufferSet::Entry& entry : outputs.entries()) {
    model::Status done;
    if (entry.plan.role == Role::kOut)
      done = device_->poison(entry.buffer.base, entry.plan.storage_bytes(), patterns.outputs);
    if (entry.plan.role == Role::kInOut)
      done = device_->copy(entry.buffer.base, pristine_.find(entry.plan.name)->buffer.base, entry.plan.storage_bytes());
    if (!done) return done;
  }
  if (const model::Status done = prepare_scratch(*device_, *scratch, seed_, patterns); !done) return done;
  Addresses addresses;
  add_addresses(tensors_, addresses);
  add_addresses(outputs, addresses);
  add_addresses(*scratch, addresses);
  const model::Result<device::LaunchSequence> launches = prepare_launches(plan.reference, reference, addresses);
  if (!launches) return tl::unexpected(launches.error());
  for (const device::PreparedLaunch& launch : *launches) {
    if (const model::Status fits = device_->check(launch); !fits) return fits;
  }
  if (const model::Status done = device_->launch(*launches); !done) return done;
  if (const model::Status done = device_->synchronize(); !done) return done;
  Damage damage;
  if (const model::Status done = inspect_guards(*device_, *scratch, damage); !done) return done;
  if (const model::Status done = inspect(damage); !done) return done;
  if (!damage.reasons.empty()) return model::fail(model::Outcome::kWrongResult, join(damage.reasons, "; "));
  return {};
}

/// A variant is as verified as its reference is complete: an element that the reference leaves alone would pass in a
/// variant that writes nothing.
model::Status InputSet::look_at_reference(const BufferSet::Entry& entry) {
  const auto result = device_->compare(tensors_.find(entry.plan.name)->buffer.base, entry.buffer.base, entry.plan,
                                       {kPatterns[1].outputs, kReferencePoison});
  if (!result) return tl::unexpected(result.error());
  const std::int64_t reached = reached_elements(entry.plan);
  if (entry.plan.role != Role::kOut || result->elements == reached) return keep(entry, *result);
  return model::fail(model::Outcome::kWrongResult, fmt::format("leaves {} of {} elements of {} unwritten",
                                                               reached - result->elements, reached, entry.plan.name));
}

model::Status InputSet::restore(const Patterns& patterns) {
  patterns_ = patterns;
  if (const model::Status armed = tensors_.arm(patterns.guards); !armed) return armed;
  device::TimedCall operands;
  operands.renewals = renewals();
  return device::renew(*device_, operands);
}

std::vector<device::Renewal> InputSet::renewals() const {
  std::vector<device::Renewal> renewals;
  for (const BufferSet::Entry& entry : tensors_.entries()) {
    if (entry.plan.role == Role::kIn) continue;
    const BufferSet::Entry* first = pristine_.find(entry.plan.name);
    renewals.push_back(
        {entry.buffer.base, first != nullptr ? first->buffer.base : 0, entry.plan.storage_bytes(), patterns_.outputs});
  }
  return renewals;
}

std::vector<device::OutputCheck> InputSet::checks() const {
  std::vector<device::OutputCheck> checks;
  for (const BufferSet::Entry& entry : reference_.entries()) {
    const bool may_stay = entry.plan.role == Role::kInOut || reached_elements(entry.plan) != entry.plan.storage;
    checks.push_back({tensors_.find(entry.plan.name)->buffer.base,
                      entry.buffer.base,
                      entry.plan,
                      {patterns_.outputs, kReferencePoison, may_stay}});
    if (const auto found = tolerances_.find(entry.plan.name); found != tolerances_.end())
      checks.back().plan.tolerance = found->second;
  }
  return checks;
}

model::Status InputSet::inspect_inputs(Damage& damage) {
  for (const BufferSet::Entry& entry : tensors_.entries()) {
    if (entry.plan.role != Role::kIn) continue;
    const std::uint64_t expected = checksums_.at(entry.plan.name);
    model::Result<std::uint64_t> sum = sum_of(*device_, entry);
    if (!sum) return tl::unexpected(sum.error());
    if (*sum == expected) continue;
    damage.reasons.push_back("changed its input " + entry.label);
    if (const model::Status done = fill(entry); !done) return done;
    sum = sum_of(*device_, entry);
    if (!sum) return tl::unexpected(sum.error());
    if (*sum != expected) damage.lasting = true;
  }
  return {};
}

/// The reference's results and the untouched copies: nothing can put these back.
model::Status InputSet::inspect_kept(Damage& damage) {
  for (const BufferSet* buffers : {&reference_, &pristine_}) {
    for (const BufferSet::Entry& entry : buffers->entries()) {
      const auto expected = kept_checksums_.find(entry.label);
      if (expected == kept_checksums_.end()) continue;  // the reference itself is running
      const model::Result<std::uint64_t> sum = sum_of(*device_, entry);
      if (!sum) return tl::unexpected(sum.error());
      if (*sum == expected->second) continue;
      damage.reasons.push_back("wrote into " + entry.label);
      damage.lasting = true;
    }
  }
  return {};
}

model::Status InputSet::inspect(Damage& damage) {
  for (const BufferSet* buffers : {&tensors_, &reference_, &pristine_}) {
    if (const model::Status done = inspect_guards(*device_, *buffers, damage); !done) return done;
  }
  if (const model::Status done = inspect_inputs(damage); !done) return done;
  return inspect_kept(damage);
}

}  // namespace ktune::verify
