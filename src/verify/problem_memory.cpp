#include "verify/problem_memory.h"

#include <fmt/format.h>

#include <utility>

#include "base/hash.h"
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

std::int64_t bytes_of(const std::vector<model::TensorPlan>& tensors) {
  std::int64_t bytes = 0;
  for (const model::TensorPlan& tensor : tensors) bytes += tensor.storage_bytes();
  return bytes;
}

}  // namespace

std::int64_t ProblemMemory::set_bytes() const { return bytes_of(plan_.tensors); }

std::vector<model::TensorPlan> ProblemMemory::outputs() const {
  std::vector<model::TensorPlan> outputs;
  for (const model::TensorPlan& tensor : plan_.tensors)
    if (tensor.role != Role::kIn) outputs.push_back(tensor);
  return outputs;
}

bool ProblemMemory::updates_in_place() const {
  for (const model::TensorPlan& tensor : plan_.tensors)
    if (tensor.role == Role::kInOut) return true;
  return false;
}

std::int64_t ProblemMemory::whole_set_bytes() const {
  std::int64_t bytes = set_bytes() + bytes_of(outputs()) + bytes_of(plan_.reference_scratch);
  for (const model::TensorPlan& tensor : plan_.tensors)
    if (tensor.role == Role::kInOut) bytes += tensor.storage_bytes();
  return bytes;
}

model::Status ProblemMemory::check_budget() const {
  const std::int64_t free = device_.free_memory();
  const std::int64_t need = whole_set_bytes() + bytes_of(outputs());
  if (free <= 0 || need <= free) return {};
  return model::fail_transient(
      model::Outcome::kRejected,
      fmt::format("needs {} of device memory to be verified (inputs, outputs, a copy of them and the reference's "
                  "outputs), {} is free",
                  format_bytes(need), format_bytes(free)));
}

model::Result<std::unique_ptr<ProblemMemory>> ProblemMemory::create(device::Device& device, model::ProblemPlan plan,
                                                                    device::ModuleId reference) {
  if (const model::Status sound = check_tensors(plan.tensors); !sound) return tl::unexpected(sound.error());
  if (const model::Status sound = check_tensors(plan.reference_scratch); !sound) return tl::unexpected(sound.error());
  std::unique_ptr<ProblemMemory> memory(new ProblemMemory(device, std::move(plan), reference));
  if (const model::Status enough = memory->check_budget(); !enough) return tl::unexpected(enough.error());
  model::Result<BufferSet> kept = BufferSet::allocate(device, memory->outputs(), "a copy of ");
  if (!kept) return tl::unexpected(kept.error());
  memory->kept_ = std::move(*kept);
  if (const model::Status added = memory->add_set(); !added) return tl::unexpected(added.error());
  if (const model::Status strong = memory->check_strength(); !strong) return tl::unexpected(strong.error());
  return memory;
}

model::Status ProblemMemory::check_strength() {
  const model::Result<std::string> weakness = set(0).weakness();
  if (!weakness) return tl::unexpected(weakness.error());
  if (!weakness->empty()) {
    return model::fail(model::Outcome::kWrongResult,
                       fmt::format("weak-check: {}, so this problem verifies nobody", *weakness),
                       "choose inputs that give other results, or a tighter [[verify.tolerance]]; `trivial = "
                       "[\"OUTPUT\"]` under [verify] says that a constant or a copy of an input is the op's meaning");
  }
  return set(0).restore(kPatterns[0]);
}

model::Status ProblemMemory::add_set() {
  const std::uint64_t seed = hash_64(fmt::format("set {}", sets()), plan_.seed);
  model::Result<InputSet> set = InputSet::make(device_, plan_, reference_, seed, kSetShift * sets());
  if (!set) return tl::unexpected(set.error());
  sets_.push_back(std::move(*set));
  return {};
}

model::Status ProblemMemory::grow(int count) {
  while (sets() < count) {
    const std::int64_t free = device_.free_memory();
    const std::int64_t bands = 4 * guard_bytes(device_.facts()) * static_cast<std::int64_t>(plan_.tensors.size());
    const auto cost = static_cast<double>(whole_set_bytes() + bands);
    if (free > 0 && cost > (1.0 - kSpareShare) * static_cast<double>(free)) return {};
    if (model::Status added = add_set(); !added) {
      const model::Outcome outcome = added.error().outcome;
      added.error().reason = "the reference, on further inputs: " + added.error().reason;
      if (outcome == model::Outcome::kCrashed || outcome == model::Outcome::kWrongResult) return added;
      return {};  // out of memory: what there is must do
    }
  }
  return {};
}

model::Status ProblemMemory::reseed(int index) {
  model::Status done = set(index).reseed(plan_, reference_, hash_64(fmt::format("fresh {}", ++reseeded_), plan_.seed));
  if (!done) done.error().reason = "the reference, on further inputs: " + done.error().reason;
  return done;
}

model::Status ProblemMemory::keep_outputs() {
  for (const BufferSet::Entry& entry : kept_.entries()) {
    const device::DevicePtr from = set(0).tensors().find(entry.plan.name)->buffer.base;
    if (const model::Status done = device_.copy(entry.buffer.base, from, entry.plan.storage_bytes()); !done)
      return done;
  }
  return {};
}

model::Result<std::string> ProblemMemory::difference_from_kept(const Patterns& patterns) {
  std::vector<std::string> differences;
  for (const device::OutputCheck& check : set(0).checks()) {
    model::TensorPlan exact = check.plan;
    exact.tolerance = {0.0, 0.0};
    const auto result =
        device_.compare(check.out, kept_.find(exact.name)->buffer.base, exact, {check.poison.out, patterns.outputs});
    if (!result) return tl::unexpected(result.error());
    if (result->mismatches == 0) continue;
    differences.push_back(fmt::format("{} of {} elements of {}", result->mismatches, result->elements, exact.name));
  }
  return join(differences, ", ");
}

}  // namespace ktune::verify
