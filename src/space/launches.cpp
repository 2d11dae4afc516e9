#include "space/launches.h"

#include <algorithm>

namespace ktune::space {
namespace {

void set(std::array<std::int64_t, 3>& extent, std::vector<Quantity>& quantities, const Choice& choice) {
  extent = {1, 1, 1};
  for (std::size_t i = 0; i < quantities.size(); ++i) extent[i] = quantities[i].value(choice);
}

}  // namespace

Launches::Launches(const model::OpSpec& spec, const std::vector<Axis>& axes, const expr::Scope& problem,
                   const model::DeviceFacts& device)
    : device_(device) {
  const auto quantities = [&](const std::vector<model::Expression>& expressions) {
    std::vector<Quantity> result;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, expressions.size()); ++i)
      result.emplace_back(expressions[i], axes, problem);
    return result;
  };
  for (const model::LaunchSpec& launch : spec.launches) {
    Launch& bound = launches_.emplace_back();
    if (launch.when) bound.when.emplace(*launch.when, axes, problem);
    bound.grid = quantities(launch.grid);
    bound.block = quantities(launch.block);
    bound.cluster = quantities(launch.cluster);
    if (!launch.smem.text.empty()) bound.smem.emplace(launch.smem, axes, problem);
  }
}

std::optional<model::LimitBreach> Launches::breach(const Choice& choice) {
  for (Launch& launch : launches_) {
    if (launch.when && !launch.when->holds(choice)) continue;
    set(plan_.grid, launch.grid, choice);
    set(plan_.block, launch.block, choice);
    set(plan_.cluster, launch.cluster, choice);
    plan_.smem_bytes = launch.smem ? launch.smem->value(choice) : 0;
    if (auto broken = model::limit_broken(plan_, device_)) return broken;
  }
  return std::nullopt;
}

}  // namespace ktune::space
