#include "sweep/finalists.h"

#include <algorithm>

namespace ktune::sweep {

std::vector<Candidate> choose_finalists(const std::map<search::VariantId, Candidate>& measured, int most,
                                        std::span<const search::VariantId> always) {
  std::vector<Candidate> all;
  for (const auto& [id, candidate] : measured) all.push_back(candidate);
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.inconclusive, a.time_us) < std::pair(b.inconclusive, b.time_us);
  });
  const auto conclusive = std::count_if(all.begin(), all.end(), [](const Candidate& one) { return !one.inconclusive; });
  const std::size_t eligible = conclusive > 0 ? static_cast<std::size_t>(conclusive) : all.size();
  const auto keep = std::min(static_cast<std::size_t>(std::max(1, most)), eligible);
  std::vector<Candidate> chosen(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(keep));
  for (const search::VariantId id : always) {
    const auto at = measured.find(id);
    const auto is_it = [id](const Candidate& candidate) { return candidate.id == id; };
    if (at != measured.end() && std::none_of(chosen.begin(), chosen.end(), is_it)) chosen.push_back(at->second);
  }
  return chosen;
}

std::pair<std::int64_t, std::int64_t> resources_used(const model::VariantPlan& plan,
                                                     const std::map<std::string, model::KernelResources>& resources) {
  std::int64_t registers = 0, shared = 0;
  for (const model::LaunchPlan& launch : plan.launches) {
    model::KernelResources kernel;
    if (const auto at = resources.find(launch.kernel); at != resources.end()) kernel = at->second;
    const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    registers = std::max(registers, std::max(kernel.registers, 0) * threads);
    shared = std::max(shared, std::max(kernel.shared_bytes, 0) + launch.smem_bytes);
  }
  return {registers, shared};
}

}  // namespace ktune::sweep
