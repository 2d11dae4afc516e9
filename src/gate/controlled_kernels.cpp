#include "gate/controlled_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compile/compile.h"

namespace ktune::gate {

namespace {

std::string control_name(const sweep::PreparedProblem& control) {
  return fmt::format("{} {}", control.plan.op, control.plan.problem);
}

std::string round_text(std::size_t kernels, bool fresh) {
  return (kernels == 1 ? std::string("1 kernel beside its control")
                       : fmt::format("{} kernels beside their controls", kernels)) +
         (fresh ? ", once more" : "");
}

}  // namespace

ControlledKernels::ControlledKernels(const std::vector<ControlledItem>& items, const model::DeviceFacts& facts,
                                     const sweep::ProcessOptions& options, const Notices& notices)
    : options_(options), notices_(notices), measured_(items.size()), kernels_(items.size()), control_of_(items.size()) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    measured_[i].missing = items[i].missing;
    measured_[i].failure = items[i].failure;
    measured_[i].tree_commit = items[i].tree_commit;
  }
  compile(items, facts);
  decide_timers(items, facts);
}

bool ControlledKernels::usable(std::size_t item) const {
  return measured_[item].missing.empty() && !measured_[item].failure;
}

void ControlledKernels::fail(std::size_t item, const model::Failure& failure, const std::string& whose) {
  measured_[item].failure = failure;
  if (whose.empty()) return;
  // Nothing is known of the kernel: there is nothing to divide it by.
  measured_[item].failure->outcome = model::Outcome::kRejected;
  measured_[item].failure->reason =
      fmt::format("its control {}: {}: {}", whose, name_of(failure.outcome), failure.reason);
}

void ControlledKernels::compile(const std::vector<ControlledItem>& items, const model::DeviceFacts& facts) {
  std::vector<sweep::KernelRequest> requests;
  std::vector<std::size_t> kernel_at(items.size());
  std::map<std::pair<sweep::SharedProblem, std::string>, std::size_t> controls;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!usable(i)) continue;
    kernel_at[i] = requests.size();
    requests.push_back(items[i].kernel);
    controls.try_emplace({items[i].control.prepared, items[i].control.variant.text()}, 0);
  }
  const std::size_t first_control = requests.size();
  for (const ControlledItem& item : items) {
    if (!item.missing.empty() || item.failure) continue;
    std::size_t& at = controls.at({item.control.prepared, item.control.variant.text()});
    if (at == 0) {
      at = requests.size();
      requests.push_back(item.control);
    }
  }
  const auto compiled = sweep::compile_kernels(requests, facts, options_);
  std::vector<std::string> hashes;
  for (const auto& binary : compiled) hashes.push_back(binary ? compile::code_hash(binary->binary) : std::string());
  for (std::size_t at = first_control; at < compiled.size(); ++at)
    controls_.push_back(compiled[at] ? *compiled[at] : sweep::ReadyKernel{});
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!usable(i)) continue;
    const std::size_t control = controls.at({items[i].control.prepared, items[i].control.variant.text()});
    control_of_[i] = control - first_control;
    measured_[i].code_hash = hashes[kernel_at[i]];
    measured_[i].control_code_hash = hashes[control];
    if (!compiled[kernel_at[i]])
      fail(i, compiled[kernel_at[i]].error(), "");
    else if (!compiled[control])
      fail(i, compiled[control].error(), control_name(*items[i].control.prepared));
    else
      kernels_[i] = *compiled[kernel_at[i]];
  }
}

void ControlledKernels::decide_timers(const std::vector<ControlledItem>& items, const model::DeviceFacts& facts) {
  std::vector<sweep::ReadyKernel> undecided;
  std::vector<std::size_t> whose;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!usable(i)) continue;
    kernels_[i].timer = items[i].timer;
    if (items[i].timer) continue;
    undecided.push_back(kernels_[i]);
    whose.push_back(i);
  }
  if (undecided.empty()) return;
  const auto timers = sweep::decide_timers(undecided, facts, options_);
  for (std::size_t i = 0; i < whose.size(); ++i) {
    if (timers[i])
      kernels_[whose[i]].timer = *timers[i];
    else
      fail(whose[i], timers[i].error(), "");
  }
}

void ControlledKernels::time(const std::vector<std::size_t>& wanted, int processes, std::uint64_t seed, bool fresh) {
  const std::string what = round_text(wanted.size(), fresh);
  for (int process = 0; process < processes; ++process) {
    std::vector<sweep::ReadyKernel> together;
    std::vector<std::pair<std::size_t, std::size_t>> kernels;  // item, its place in `together`
    std::map<std::pair<std::size_t, std::optional<model::Timer>>, std::size_t> control_at;  // control and timer → place
    for (const std::size_t item : wanted) {
      if (!usable(item)) continue;
      kernels.emplace_back(item, together.size());
      together.push_back(kernels_[item]);
      const auto [at, added] = control_at.try_emplace({control_of_[item], kernels_[item].timer}, together.size());
      if (!added) continue;
      together.push_back(controls_[control_of_[item]]);
      together.back().timer = kernels_[item].timer;
    }
    if (together.empty()) return;
    notices_.show_progress(fmt::format("{}: process {} of {}", what, process + 1, processes));
    const auto figures =
        sweep::time_in_one_process(together, options_, seed * 1000003ULL + static_cast<std::uint64_t>(process));
    for (const auto& [item, at] : kernels) {
      const auto& control = figures[control_at.at({control_of_[item], kernels_[item].timer})];
      if (!figures[at])
        fail(item, figures[at].error(), "");
      else if (!control)
        fail(item, control.error(), control_name(*controls_[control_of_[item]].prepared));
      else
        (fresh ? measured_[item].fresh : measured_[item].processes).push_back({*figures[at], *control});
    }
  }
}

}  // namespace ktune::gate
