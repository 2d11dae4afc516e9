#include "space/launches.h"

#include <algorithm>
#include <limits>
#include <set>

#include "expr/resolve.h"

namespace ktune::space {
namespace {

constexpr std::size_t kMostChecked = std::size_t{1} << 22;  // combinations, a byte each

constexpr std::int64_t kMostOfLaunch = std::numeric_limits<std::int32_t>::max();

/// False where one has no value or does not fit.
bool set(std::array<std::int64_t, 3>& extent, std::vector<Quantity>& quantities, const Choice& choice) {
  extent = {1, 1, 1};
  for (std::size_t i = 0; i < quantities.size(); ++i) {
    const auto value = quantities[i].value(choice);
    if (!value || *value < 1 || *value > kMostOfLaunch) return false;
    extent[i] = *value;
  }
  return true;
}

}  // namespace

Launches::Launches(const model::OpSpec& spec, const std::vector<Axis>& axes, const expr::Scope& scope, Target target)
    : spec_(spec), axes_(axes), scope_(scope), target_(std::move(target)) {
  const auto quantities = [&](const std::vector<model::Expression>& expressions) {
    std::vector<Quantity> result;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, expressions.size()); ++i)
      result.emplace_back(expressions[i], axes_, scope_);
    return result;
  };
  for (const model::LaunchSpec& launch : spec_.launches) {
    Launch& bound = launches_.emplace_back();
    if (launch.when) bound.when.emplace(*launch.when, axes_, scope_);
    bound.grid = quantities(launch.grid);
    bound.block = quantities(launch.block);
    bound.cluster = quantities(launch.cluster);
    if (!launch.smem.text.empty()) bound.smem.emplace(launch.smem, axes_, scope_);
  }
  bind_arguments();
}

void Launches::bind_arguments() {
  std::set<std::string> names;
  const auto note = [&](const model::Expression& expression) {
    const expr::Program program(expression, scope_.lets());
    names.insert(program.names().begin(), program.names().end());
  };
  for (const model::LaunchSpec& launch : spec_.launches) {
    if (launch.when) note(*launch.when);
    for (const model::Expression& argument : launch.args) note(argument);
  }
  for (const model::TensorSpec& tensor : spec_.tensors) {
    if (tensor.role != model::Role::kScratch) continue;
    for (const model::Expression& size : tensor.shape) note(size);
    for (const model::Expression& stride : tensor.strides) note(stride);
  }
  arguments_.emplace(std::vector<std::string>(names.begin(), names.end()), axes_, scope_, kMostChecked);
  checked_.assign(arguments_->combinations(), 0);
}

std::optional<std::string> Launches::failure(const Choice& choice) const {
  const auto plan = expr::resolve_variant(spec_, target_.problem, scope_, variant_of(axes_, choice));
  if (!plan) return plan.error().reason;
  if (auto broken = model::limit_broken(plan->scratch, target_.device)) return broken->limit;
  return std::nullopt;
}

std::optional<std::string> Launches::argument_failure(const Choice& choice) {
  std::uint8_t unknown = 0;
  std::uint8_t& checked = checked_.empty() ? unknown : checked_[arguments_->key(choice)];
  if (checked != 0) return std::nullopt;
  auto why = failure(choice);
  if (!why) checked = 1;
  return why;
}

bool Launches::set_sizes(Launch& launch, const Choice& choice) {
  const auto smem = launch.smem ? launch.smem->value(choice) : std::make_optional<std::int64_t>(0);
  if (!smem || *smem < 0 || *smem > kMostOfLaunch) return false;
  plan_.smem_bytes = *smem;
  return set(plan_.grid, launch.grid, choice) && set(plan_.block, launch.block, choice) &&
         set(plan_.cluster, launch.cluster, choice);
}

std::optional<std::string> Launches::refusal(const Choice& choice) {
  count_ = 0;
  for (Launch& launch : launches_) {
    const Truth applies = launch.when ? launch.when->holds(choice) : Truth::kTrue;
    if (applies == Truth::kFails) return failure(choice);
    if (applies == Truth::kFalse) continue;
    ++count_;
    if (!set_sizes(launch, choice)) return failure(choice);
    if (auto broken = model::limit_broken(plan_, target_.device)) return broken->limit;
  }
  return argument_failure(choice);
}

}  // namespace ktune::space
