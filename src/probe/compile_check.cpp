#include "probe/compile_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "base/shuffle.h"
#include "compile/targets.h"
#include "sweep/check.h"

namespace ktune::probe {

namespace {

constexpr std::size_t kSample = 200;

/// Every id, or a seeded sample that always holds the default.
std::vector<std::int64_t> all_or_sample(const sweep::PreparedProblem& prepared, std::uint64_t seed) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(prepared.space.size()));
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  if (ids.size() <= kSample) return ids;
  shuffle(std::span(ids), seed);
  const auto at = std::find(ids.begin(), ids.end(), prepared.default_id);
  std::iter_swap(ids.begin(), at);
  ids.resize(kSample);
  return ids;
}

std::int64_t spilled_bytes(const model::KernelBinary& binary) {
  std::int64_t bytes = 0;
  for (const auto& [kernel, resources] : binary.resources)
    bytes += std::max(0, resources.spill_store_bytes) + std::max(0, resources.spill_load_bytes);
  return bytes;
}

void count(const sweep::CompileCheck& check, CompileTally& tally, const Notices& notices) {
  const std::string what =
      fmt::format("{} {} {}", check.prepared->spec->name, check.prepared->problem.text(), check.variant.text());
  if (!check.binary) {
    ++tally.failed;
    notices.say(fmt::format("{}: {}: {}\n{}", name_of(check.binary.error().outcome), what, check.binary.error().reason,
                            check.binary.error().detail.substr(0, 2000)));
    return;
  }
  ++tally.compiled;
  for (const auto& [kernel, resources] : check.binary->resources)
    tally.most_registers = std::max<std::int64_t>(tally.most_registers, resources.registers);
  const std::int64_t spills = spilled_bytes(*check.binary);
  if (spills > 0) ++tally.spilling;
  if (spills > 0 && check.is_default) {
    ++tally.failed;
    notices.say(fmt::format("the default spills {} B of registers: {}", spills, what));
  }
}

}  // namespace

std::vector<CompileTally> check_compiles(const sweep::Selection& selection, const sweep::Options& options,
                                         const std::vector<std::string>& targets, const Notices& notices) {
  std::vector<CompileTally> tallies;
  for (const std::string& target : targets) {
    const model::DeviceFacts facts = compile::target_facts(target);
    const auto work = sweep::resolve_selection(selection, "sweep");
    const auto prepared = sweep::prepare(work, facts, options.seed);
    std::map<std::string, CompileTally> of_op;
    std::shared_ptr<const model::OpSpec> seen;  // the problems of one op follow each other
    const auto pick = [&](const sweep::PreparedProblem& problem) {
      const bool first_of_op = std::exchange(seen, problem.spec) != problem.spec;
      if (target != targets.front()) return sweep::variants_to_check(problem, sweep::CheckScope::kSome);
      if (first_of_op) return all_or_sample(problem, options.seed);
      return sweep::variants_to_check(problem, sweep::CheckScope::kDefault);
    };
    sweep::compile_only(prepared, facts, options, pick, [&](const sweep::CompileCheck& check) {
      const std::string& op = check.prepared->spec->name;
      CompileTally& tally = of_op.try_emplace(op, CompileTally{op, target}).first->second;
      count(check, tally, notices);
      notices.show_progress(fmt::format("{} for {}", op, target));
    });
    for (auto& [op, tally] : of_op) tallies.push_back(std::move(tally));
  }
  notices.show_progress("");
  return tallies;
}

}  // namespace ktune::probe
