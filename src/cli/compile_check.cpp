#include "cli/compile_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <utility>

#include "base/error.h"
#include "base/process.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "compile/compile.h"
#include "compile/targets.h"

namespace ktune::cli {

namespace {

constexpr std::size_t kSample = 200;

/// Every id, or a seeded sample that always holds the default.
std::vector<std::int64_t> all_or_sample(const sweep::PreparedProblem& prepared, std::uint64_t seed) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(prepared.space.size()));
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  if (ids.size() <= kSample) return ids;
  std::shuffle(ids.begin(), ids.end(), std::mt19937_64(seed));
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

struct Tally {
  std::int64_t compiled = 0, failed = 0, spilling = 0, worst_registers = 0;
};

void count(const sweep::CompileCheck& check, Tally& tally, ProgressLine& line) {
  const std::string what =
      fmt::format("{} {} {}", check.prepared->spec->name, check.prepared->problem.text(), check.variant.text());
  if (!check.binary) {
    ++tally.failed;
    line.print(fmt::format("{}: {}: {}\n{}", name_of(check.binary.error().outcome), what, check.binary.error().reason,
                           check.binary.error().detail.substr(0, 2000)));
    return;
  }
  ++tally.compiled;
  for (const auto& [kernel, resources] : check.binary->resources)
    tally.worst_registers = std::max<std::int64_t>(tally.worst_registers, resources.registers);
  const std::int64_t spills = spilled_bytes(*check.binary);
  if (spills > 0) ++tally.spilling;
  if (spills > 0 && check.is_default) {
    ++tally.failed;
    line.print(fmt::format("the default spills {} B of registers: {}", spills, what));
  }
}

}  // namespace

int compile_check(const sweep::Selection& selection, const sweep::Options& options,
                  const std::vector<std::string>& targets) {
  Table table{{{"op", false, 0},
               {"target", false, 0},
               {"compiled", true, 0},
               {"failed", true, 0},
               {"spilling", true, 0},
               {"most registers", true, 1}},
              {}};
  std::int64_t passed = 0, failed = 0;
  ProgressLine line;
  for (const std::string& target : targets) {
    const model::DeviceFacts facts = compile::target_facts(target);
    const auto work = sweep::resolve_selection(selection, "sweep");
    const auto prepared = sweep::prepare(work, facts, options.seed);
    std::map<std::string, Tally> tallies;
    std::shared_ptr<const model::OpSpec> seen;  // the problems of one op follow each other
    const auto pick = [&](const sweep::PreparedProblem& problem) {
      const bool first_of_op = std::exchange(seen, problem.spec) != problem.spec;
      if (target != targets.front()) return sweep::variants_to_check(problem, sweep::CheckScope::kSome);
      if (first_of_op) return all_or_sample(problem, options.seed);
      return sweep::variants_to_check(problem, sweep::CheckScope::kDefault);
    };
    sweep::compile_only(prepared, facts, options, pick, [&](const sweep::CompileCheck& check) {
      count(check, tallies[check.prepared->spec->name], line);
      line.update(fmt::format("{} for {}", check.prepared->spec->name, target));
    });
    for (const auto& [op, tally] : tallies) {
      table.rows.push_back({op, target, std::to_string(tally.compiled), std::to_string(tally.failed),
                            std::to_string(tally.spilling), std::to_string(tally.worst_registers)});
      passed += tally.compiled;
      failed += tally.failed;
    }
  }
  line.clear();
  const Stream out = stdout_stream();
  std::fputs(table.term(out.width, out.colour).c_str(), stdout);
  if (interrupted()) throw Error(ErrorKind::kInterrupted, "interrupted; not everything was compiled");
  if (passed + failed == 0) throw Error(ErrorKind::kNoData, "nothing was compiled");
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace ktune::cli
