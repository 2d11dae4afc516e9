#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "device/host_memory.h"
#include "verify/input_set.h"
#include "verify/reasons.h"

// The tolerance tests itself: outputs that nobody computed are compared as a variant's are. Where one of them passes, a
// variant that did nothing would.

namespace ktune::verify {
namespace {

using model::InitKind;
using model::Role;

/// One element in so many is replaced, and that must be seen. At least kReplacedLeast, since one alone may be next to
/// the value that it gets by chance; at most kReplacedMost, so that set-up stays short.
constexpr std::int64_t kReplacedShare = 4096;
constexpr std::int64_t kReplacedLeast = 8;
constexpr std::int64_t kReplacedMost = 64;
constexpr std::int64_t kReplacedTries = 8;  // to find another value

/// Where the element of a row-major index lies, in elements.
std::int64_t storage_index(const model::TensorPlan& plan, std::int64_t logical) {
  std::int64_t at = plan.offset;
  for (std::size_t d = plan.shape.size(); d-- > 0;) {
    if (plan.strides[d] == 0) continue;
    at += logical % plan.shape[d] * plan.strides[d];
    logical /= plan.shape[d];
  }
  return at;
}

model::Status fill_with(device::Device& device, const device::OutputCheck& check, InitKind kind, double value) {
  model::TensorPlan plan = check.plan;
  plan.init = {kind, value, 0.0};
  return device.initialise(check.out, plan, 0);
}

/// NaN is NaN, whatever its bits.
bool is_same_value(model::DType dtype, const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  if (a == b) return true;
  const double value = device::load_element(dtype, a.data());
  const double other = device::load_element(dtype, b.data());
  return std::isnan(value) ? std::isnan(other) : value == other && dtype != model::DType::kI64;
}

/// What the reference gave for an element.
model::Result<std::vector<std::byte>> read_element(device::Device& device, const device::OutputCheck& check,
                                                   std::int64_t logical) {
  const std::int64_t size = model::size_of(check.plan.dtype);
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  const auto at = static_cast<device::DevicePtr>(storage_index(check.plan, logical) * size);
  if (const model::Status done = device.read(bytes.data(), check.reference + at, size); !done)
    return tl::unexpected(done.error());
  return bytes;
}

/// The reference's results, one element in kReplacedShare taken from somewhere else, where that holds another value.
/// How many were replaced.
model::Result<std::int64_t> replace_some(device::Device& device, const device::OutputCheck& check) {
  const model::TensorPlan& plan = check.plan;
  const std::int64_t elements = reached_elements(plan);
  const std::int64_t size = model::size_of(plan.dtype);
  if (const model::Status done = device.copy(check.out, check.reference, plan.storage_bytes()); !done)
    return tl::unexpected(done.error());
  const std::int64_t count =
      std::clamp<std::int64_t>(elements / kReplacedShare, std::min(elements, kReplacedLeast), kReplacedMost);
  std::int64_t replaced = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = elements / count * i + elements / count / 2;
    const auto here = read_element(device, check, at);
    if (!here) return tl::unexpected(here.error());
    for (std::int64_t step = 1; step <= kReplacedTries; ++step) {
      const auto other = read_element(device, check, (at + step * (elements / 3 + 1)) % elements);
      if (!other) return tl::unexpected(other.error());
      if (is_same_value(check.plan.dtype, *other, *here)) continue;
      const auto to = static_cast<device::DevicePtr>(storage_index(plan, at) * size);
      if (const model::Status done = device.write(check.out + to, other->data(), size); !done)
        return tl::unexpected(done.error());
      ++replaced;
      break;
    }
  }
  return replaced;
}

bool same_layout(const model::TensorPlan& a, const model::TensorPlan& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides && a.offset == b.offset;
}

/// "zeros would pass as y (0.28 times the tolerance)" where what stands in the output is called right; else empty.
model::Result<std::string> pass_text(device::Device& device, const device::OutputCheck& check, std::uint32_t gaps,
                                     const std::string& what) {
  const auto result =
      device.compare(check.out, check.reference, check.plan, {gaps, check.poison.reference, check.poison.may_stay});
  if (!result) return tl::unexpected(result.error());
  if (!is_right(*result, check.plan.tolerance)) return std::string();
  return fmt::format("{} would pass as {} ({:.2g} times the tolerance)", what, check.plan.name, result->worst_margin);
}

}  // namespace

model::Result<std::string> InputSet::weakness() {
  for (const device::OutputCheck& check : checks()) {
    std::vector<Candidate> candidates;
    if (!check.plan.trivial) candidates = trivial_outputs(check);
    for (const Candidate& candidate : candidates) {
      if (const model::Status made = candidate.make(); !made) return tl::unexpected(made.error());
      model::Result<std::string> text = pass_text(*device_, check, device::kGapPattern, candidate.what);
      if (!text || !text->empty()) return text;
    }
    const model::Result<std::int64_t> replaced = replace_some(*device_, check);
    if (!replaced) return tl::unexpected(replaced.error());
    if (*replaced == 0) continue;
    model::Result<std::string> text =
        pass_text(*device_, check, check.poison.reference, "the right results with one element in 4096 replaced");
    if (!text || !text->empty()) return text;
  }
  return std::string();
}

/// `check` must outlive them. The constant is one that a kernel could know beforehand: the mean to two digits. A single
/// result, or equal results of one row that is read again and again, may come near it; a single one may be its input.
std::vector<InputSet::Candidate> InputSet::trivial_outputs(const device::OutputCheck& check) {
  std::vector<Candidate> candidates{{"zeros", [&] { return fill_with(*device_, check, InitKind::kZeros, 0.0); }}};
  const bool repeats = std::any_of(tensors_.entries().begin(), tensors_.entries().end(), [](const auto& entry) {
    const auto& strides = entry.plan.strides;
    return std::find(strides.begin(), strides.end(), 0) != strides.end();
  });
  if (reached_elements(check.plan) == 1) return candidates;
  if (const std::string mean = fmt::format("{:.2g}", sizes_.at(check.plan.name)); !repeats) {
    candidates.push_back({"the constant " + mean, [&, value = std::stod(mean)] {
                            return fill_with(*device_, check, InitKind::kConstant, value);
                          }});
  }
  for (const BufferSet::Entry& entry : tensors_.entries()) {
    if (entry.plan.role == Role::kOut || !same_layout(entry.plan, check.plan)) continue;
    const BufferSet::Entry* pristine = pristine_.find(entry.plan.name);
    const device::DevicePtr from = pristine != nullptr ? pristine->buffer.base : entry.buffer.base;
    candidates.push_back({"a copy of " + entry.plan.name,
                          [&, from] { return device_->copy(check.out, from, check.plan.storage_bytes()); }});
  }
  return candidates;
}

}  // namespace ktune::verify
