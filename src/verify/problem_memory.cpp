#include "verify/problem_memory.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "verify/plan_check.h"
#include "verify/reasons.h"

namespace ktune::verify {
namespace {

using model::Role;

/// Sets lie this many bytes further on than the one before: not a multiple of any large power of two.
constexpr std::int64_t kSetShift = 37 * 256;
/// A further set must leave this share of the free memory untouched.
constexpr double kSpareShare = 0.25;

std::vector<model::TensorPlan> with_roles(const std::vector<model::TensorPlan>& tensors, bool out, bool inout) {
  std::vector<model::TensorPlan> picked;
  for (const model::TensorPlan& tensor : tensors) {
    if ((out && tensor.role == Role::kOut) || (inout && tensor.role == Role::kInOut)) picked.push_back(tensor);
  }
  return picked;
}

std::int64_t bytes_of(const std::vector<model::TensorPlan>& tensors) {
  std::int64_t bytes = 0;
  for (const model::TensorPlan& tensor : tensors) bytes += tensor.storage_bytes();
  return bytes;
}

model::Failure prefixed(const std::string& prefix, model::Failure failure) {
  failure.reason = prefix + failure.reason;
  return failure;
}

}  // namespace

model::Status prepare_scratch(device::Device& device, const BufferSet& scratch, std::uint64_t seed) {
  for (const BufferSet::Entry& entry : scratch.entries()) {
    const model::Status done = entry.plan.init.kind == model::InitKind::kZeros
                                   ? device.initialise(entry.buffer.base, entry.plan, seed)
                                   : device.poison(entry.buffer.base, entry.buffer.bytes, kScratchPoison);
    if (!done) return done;
  }
  return {};
}

std::int64_t ProblemMemory::set_bytes() const { return bytes_of(plan_.tensors); }

model::Status ProblemMemory::check_budget() const {
  const std::int64_t free = device_.free_memory();
  const std::int64_t need = set_bytes() + bytes_of(with_roles(plan_.tensors, true, true)) +
                            bytes_of(with_roles(plan_.tensors, false, true)) + bytes_of(plan_.reference_scratch);
  if (free <= 0 || need <= free) return {};
  return model::fail_transient(
      model::Outcome::kRejected,
      fmt::format("needs {} of device memory to be verified (inputs, outputs and the reference's "
                  "outputs), {} is free",
                  format_bytes(need), format_bytes(free)));
}

model::Result<std::unique_ptr<ProblemMemory>> ProblemMemory::create(device::Device& device, model::ProblemPlan plan,
                                                                    device::ModuleId reference) {
  if (const model::Status sound = check_tensors(plan.tensors); !sound) return tl::unexpected(sound.error());
  if (const model::Status sound = check_tensors(plan.reference_scratch); !sound) return tl::unexpected(sound.error());
  std::unique_ptr<ProblemMemory> memory(new ProblemMemory(device, std::move(plan)));
  if (const model::Status enough = memory->check_budget(); !enough) return tl::unexpected(enough.error());
  if (const model::Status filled = memory->fill_pristine(); !filled) return tl::unexpected(filled.error());
  if (const model::Status added = memory->add_set(); !added) return tl::unexpected(added.error());
  if (const model::Status ran = memory->run_reference(reference); !ran) {
    return tl::unexpected(prefixed("the reference: ", ran.error()));
  }
  return memory;
}

model::Status ProblemMemory::fill(const BufferSet::Entry& entry) {
  return device_.initialise(entry.buffer.base, entry.plan, plan_.seed);
}

model::Status ProblemMemory::fill_pristine() {
  model::Result<BufferSet> buffers =
      BufferSet::allocate(device_, with_roles(plan_.tensors, false, true), "the untouched copy of ");
  if (!buffers) return tl::unexpected(buffers.error());
  pristine_ = std::move(*buffers);
  for (const BufferSet::Entry& entry : pristine_.entries()) {
    if (const model::Status done = fill(entry); !done) return done;
  }
  return {};
}

model::Status ProblemMemory::add_set() {
  const std::int64_t shift = kSetShift * static_cast<std::int64_t>(sets_.size());
  model::Result<BufferSet> buffers = BufferSet::allocate(device_, plan_.tensors, "", shift);
  if (!buffers) return tl::unexpected(buffers.error());
  Set set;
  set.tensors = std::move(*buffers);
  for (const BufferSet::Entry& entry : set.tensors.entries()) {
    if (entry.plan.role != Role::kIn) continue;
    model::Status filled = {};
    if (sets_.empty()) {
      filled = fill(entry);
    } else {
      filled = device_.copy(entry.buffer.base, sets_.front().tensors.find(entry.plan.name)->buffer.base,
                            entry.plan.storage_bytes());
    }
    if (!filled) return filled;
    const model::Result<std::uint64_t> sum = device_.checksum(entry.buffer.base, entry.plan.storage_bytes());
    if (!sum) return tl::unexpected(sum.error());
    if (!sets_.empty() && *sum != sets_.front().checksums.at(entry.plan.name)) {
      return model::fail(model::Outcome::kCrashed, fmt::format("copying {} to a further set changed it", entry.label));
    }
    set.checksums[entry.plan.name] = *sum;
  }
  sets_.push_back(std::move(set));
  return restore(sets() - 1);
}

model::Status ProblemMemory::grow(int count) {
  while (sets() < count) {
    const std::int64_t free = device_.free_memory();
    const std::int64_t bands = 2 * guard_bytes(device_.facts()) * static_cast<std::int64_t>(plan_.tensors.size());
    const auto cost = static_cast<double>(set_bytes() + bands);
    if (free > 0 && cost > (1.0 - kSpareShare) * static_cast<double>(free)) return {};
    if (const model::Status added = add_set(); !added) {
      if (added.error().outcome == model::Outcome::kCrashed) return added;
      return {};  // out of memory: what there is must do
    }
  }
  return {};
}

model::Status ProblemMemory::copy_pristine(const BufferSet& to) {
  for (const BufferSet::Entry& entry : pristine_.entries()) {
    const model::Status done =
        device_.copy(to.find(entry.plan.name)->buffer.base, entry.buffer.base, entry.plan.storage_bytes());
    if (!done) return done;
  }
  return {};
}

model::Status ProblemMemory::poison_outputs(int set) {
  for (const BufferSet::Entry& entry : sets_[static_cast<std::size_t>(set)].tensors.entries()) {
    if (entry.plan.role != Role::kOut) continue;
    const model::Status done = device_.poison(entry.buffer.base, entry.plan.storage_bytes(), kPoison);
    if (!done) return done;
  }
  return {};
}

model::Status ProblemMemory::restore(int set) {
  if (const model::Status done = poison_outputs(set); !done) return done;
  return copy_pristine(sets_[static_cast<std::size_t>(set)].tensors);
}

model::Status ProblemMemory::run_reference(device::ModuleId reference) {
  model::Result<BufferSet> buffers =
      BufferSet::allocate(device_, with_roles(plan_.tensors, true, true), "the reference's ");
  if (!buffers) return tl::unexpected(buffers.error());
  reference_ = std::move(*buffers);
  model::Result<BufferSet> scratch = BufferSet::allocate(device_, plan_.reference_scratch, "scratch ");
  if (!scratch) return tl::unexpected(scratch.error());
  for (const BufferSet::Entry& entry : reference_.entries()) {
    if (entry.plan.role != Role::kOut) continue;
    const model::Status done = device_.poison(entry.buffer.base, entry.plan.storage_bytes(), kPoison);
    if (!done) return done;
  }
  if (const model::Status done = copy_pristine(reference_); !done) return done;
  if (const model::Status done = prepare_scratch(device_, *scratch, plan_.seed); !done) return done;

  Addresses addresses;
  add_addresses(set(0), addresses);
  add_addresses(reference_, addresses);
  add_addresses(*scratch, addresses);
  const model::Result<device::LaunchSequence> launches = prepare_launches(plan_.reference, reference, addresses);
  if (!launches) return tl::unexpected(launches.error());
  for (const device::PreparedLaunch& launch : *launches) {
    if (const model::Status fits = device_.check(launch); !fits) return fits;
  }
  if (const model::Status done = device_.launch(*launches); !done) return done;
  if (const model::Status done = device_.synchronize(); !done) return done;

  const model::Result<Damage> damage = inspect(0, *scratch);
  if (!damage) return tl::unexpected(damage.error());
  if (!damage->reasons.empty()) return model::fail(model::Outcome::kWrongResult, join(damage->reasons, "; "));
  for (const BufferSet::Entry& entry : reference_.entries()) {
    if (const model::Status done = check_reference_complete(entry); !done) return done;
    const model::Result<std::uint64_t> sum = device_.checksum(entry.buffer.base, entry.plan.storage_bytes());
    if (!sum) return tl::unexpected(sum.error());
    kept_checksums_[entry.label] = *sum;
  }
  for (const BufferSet::Entry& entry : pristine_.entries()) {
    const model::Result<std::uint64_t> sum = device_.checksum(entry.buffer.base, entry.plan.storage_bytes());
    if (!sum) return tl::unexpected(sum.error());
    kept_checksums_[entry.label] = *sum;
  }
  return {};
}

/// A variant is as verified as its reference is complete: an element that the reference leaves alone would pass in a
/// variant that writes nothing.
model::Status ProblemMemory::check_reference_complete(const BufferSet::Entry& entry) {
  if (entry.plan.role != Role::kOut) return {};
  const BufferSet::Entry* poisoned = set(0).find(entry.plan.name);
  const model::Result<device::CompareResult> result =
      device_.compare(poisoned->buffer.base, entry.buffer.base, entry.plan, kPoison);
  if (!result) return tl::unexpected(result.error());
  const std::int64_t reached = reached_elements(entry.plan);
  // A one-byte integer may rightly equal the poison's byte there.
  const bool bytes = model::size_of(entry.plan.dtype) == 1;
  if (bytes ? result->elements > 0 : result->elements == reached) return {};
  return model::fail(model::Outcome::kWrongResult, fmt::format("leaves {} of {} elements of {} unwritten",
                                                               reached - result->elements, reached, entry.plan.name));
}

model::Status ProblemMemory::inspect_inputs(Set& set, Damage& damage) {
  for (const BufferSet::Entry& entry : set.tensors.entries()) {
    if (entry.plan.role != Role::kIn) continue;
    const std::uint64_t expected = set.checksums.at(entry.plan.name);
    model::Result<std::uint64_t> sum = device_.checksum(entry.buffer.base, entry.plan.storage_bytes());
    if (!sum) return tl::unexpected(sum.error());
    if (*sum == expected) continue;
    damage.reasons.push_back("changed its input " + entry.label);
    if (const model::Status done = fill(entry); !done) return done;
    sum = device_.checksum(entry.buffer.base, entry.plan.storage_bytes());
    if (!sum) return tl::unexpected(sum.error());
    if (*sum != expected) damage.lasting = true;
  }
  return {};
}

model::Status ProblemMemory::inspect_guards(const BufferSet& buffers, Damage& damage) {
  for (const BufferSet::Entry& entry : buffers.entries()) {
    const model::Result<std::optional<GuardHit>> hit = find_guard_hit(device_, entry.buffer);
    if (!hit) return tl::unexpected(hit.error());
    if (!*hit) continue;
    damage.reasons.push_back(guard_text(entry.label, **hit));
    if (const model::Status done = arm_guards(device_, entry.buffer); !done) return done;
  }
  return {};
}

/// The reference's results and the untouched copies: nothing can put these back.
model::Status ProblemMemory::inspect_kept(Damage& damage) {
  for (const BufferSet* buffers : {&reference_, &pristine_}) {
    for (const BufferSet::Entry& entry : buffers->entries()) {
      const auto expected = kept_checksums_.find(entry.label);
      if (expected == kept_checksums_.end()) continue;  // the reference itself is running
      const model::Result<std::uint64_t> sum = device_.checksum(entry.buffer.base, entry.plan.storage_bytes());
      if (!sum) return tl::unexpected(sum.error());
      if (*sum == expected->second) continue;
      damage.reasons.push_back("wrote into " + entry.label);
      damage.lasting = true;
    }
  }
  return {};
}

model::Result<ProblemMemory::Damage> ProblemMemory::inspect(int set, const BufferSet& scratch) {
  Damage damage;
  Set& inspected = sets_[static_cast<std::size_t>(set)];
  for (const BufferSet* buffers :
       {&std::as_const(inspected.tensors), &scratch, &std::as_const(reference_), &std::as_const(pristine_)}) {
    if (const model::Status done = inspect_guards(*buffers, damage); !done) return tl::unexpected(done.error());
  }
  if (const model::Status done = inspect_inputs(inspected, damage); !done) return tl::unexpected(done.error());
  if (const model::Status done = inspect_kept(damage); !done) return tl::unexpected(done.error());
  return damage;
}

}  // namespace ktune::verify
