#include "gate/static_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"
#include "compile/compile.h"
#include "compile/sass_counts.h"
#include "compile/targets.h"
#include "expr/resolve.h"
#include "gate/begin_result.h"
#include "gate/code.h"
#include "gate/kernels.h"
#include "gate/reference.h"
#include "store/store.h"
#include "trial/build.h"

namespace ktune::gate {

namespace {

/// The kernels of one target; of a device of the database where its winners are compared.
struct Pass {
  model::DeviceFacts facts;
  GateKernels kernels;
};

/// One side of a row.
struct SideJob {
  std::string key;  ///< "" where the side has no such kernel
  compile::CompileJob job;
  std::string reference_key;  ///< "" where the reference is not looked at
  compile::CompileJob reference;
  model::VariantPlan plan;
  std::string launches;  ///< what tells two launches of one binary apart
};

struct RowJob {
  const Pass* pass = nullptr;
  const GateKernel* kernel = nullptr;
  SideJob base, candidate;
  int problems = 1;  ///< that come to the same
};

/// A database that was named has to be there; the one that ktune keeps by itself need not.
std::vector<std::string> devices_of(const std::string& database, bool named, const std::string& target) {
  if (!named && !std::filesystem::exists(database)) return {};
  try {
    return store::Store(database, store::Store::Mode::kRead).devices_of(target);
  } catch (const Error& error) {
    if (named || error.kind() != ErrorKind::kNoData) throw;
    return {};
  }
}

/// Trees, files and variants are the same for every target; winners are a device's.
class Sides {
 public:
  explicit Sides(const StaticGate& options)
      : options_(options), ops_root_(ops_root(options.selection, {options.base, options.candidate})) {}

  const GateSide& of(const std::string& reference, const std::string& device) {
    const std::string key = is_winner(reference) ? reference + " " + device : reference;
    const auto at = sides_.find(key);
    if (at != sides_.end()) return at->second;
    GateSide side = resolve_reference(reference, ops_root_, options_.selection, device, options_.database);
    return sides_.emplace(key, std::move(side)).first->second;
  }

 private:
  const StaticGate& options_;
  std::filesystem::path ops_root_;
  std::map<std::string, GateSide> sides_;
};

std::deque<Pass> find_kernels(const StaticGate& options, verdict::Result& result) {
  std::deque<Pass> passes;
  Sides sides(options);
  const bool winners_only = is_winner(options.base) || is_winner(options.candidate);
  const auto add = [&](model::DeviceFacts facts, const std::string& device, const sweep::VariantChoice& variant) {
    facts.name = device;
    const GateSide& base = sides.of(options.base, device);
    const GateSide& candidate = sides.of(options.candidate, device);
    result.base_commit = base.commit;
    result.candidate_commit = candidate.commit;
    const KernelChoice choice{variant, options.database, "sweep"};
    passes.push_back({facts, gate_kernels(options.selection, base, candidate, choice, facts)});
  };
  for (const std::string& target : options.targets) {
    const model::DeviceFacts facts = compile::target_facts(target);
    result.device.toolkit = compile::compiler_version(target);
    const bool one_variant = options.variant.kind == sweep::VariantChoice::Kind::kNamed;
    if (!winners_only) add(facts, facts.name, one_variant ? options.variant : sweep::VariantChoice{});
    if (one_variant) continue;
    const std::size_t before = passes.size();
    for (const std::string& device : devices_of(options.database, options.database_named, target)) {
      try {
        add(facts, device, {sweep::VariantChoice::Kind::kWinner, options.variant.session});
      } catch (const Error& error) {
        const bool elsewhere = winners_only || options.variant.session > 0;  // a session is of one device
        if (!elsewhere || error.kind() != ErrorKind::kNoData) throw;
      }
    }
    if (winners_only && passes.size() == before)
      result.notes.push_back(fmt::format("{} names no winner for {}: nothing was compared", options.database, target));
  }
  if (passes.empty())
    throw Error(ErrorKind::kNoData,
                fmt::format("{} names no winner for {}", options.database, join(options.targets, ", ")),
                "`ktune sweep` on such a device makes winners");
  return passes;
}

SideJob job_of(const GateVersion& version, const model::DeviceFacts& facts, double deadline_s) {
  SideJob side;
  if (!version.prepared) return side;
  const sweep::PreparedProblem& prepared = *version.prepared;
  side.job = trial::variant_job(*prepared.full, prepared.problem, version.variant, facts, deadline_s);
  side.key = compile::cache_key(side.job);
  side.reference = trial::reference_job(*prepared.full, prepared.problem, prepared.default_variant, facts, deadline_s);
  side.reference_key = compile::cache_key(side.reference);
  side.plan = expr::require_variant(*prepared.full, prepared.problem, prepared.scope, version.variant);
  for (const model::LaunchPlan& launch : side.plan.launches)
    side.launches +=
        fmt::format(" {} {} {}", launch.kernel, launch.block[0] * launch.block[1] * launch.block[2], launch.smem_bytes);
  return side;
}

std::vector<RowJob> row_jobs(const std::deque<Pass>& passes, double deadline_s) {
  std::vector<RowJob> rows;
  std::map<std::vector<std::string>, std::size_t> seen;
  for (const Pass& pass : passes)
    for (const GateKernel& kernel : pass.kernels.kernels) {
      // A candidate whose reference is broken can not be verified any more. Base's says whether the op is still the
      // same.
      RowJob row{&pass, &kernel, job_of(kernel.base, pass.facts, deadline_s),
                 job_of(kernel.candidate, pass.facts, deadline_s), 1};
      const bool one_sided = row.base.key.empty() || row.candidate.key.empty();
      const std::vector<std::string> same{
          kernel.comparison.op,   pass.facts.target,           row.base.key,
          row.base.launches,      row.candidate.key,           row.candidate.launches,
          row.base.reference_key, row.candidate.reference_key, one_sided ? kernel.comparison.problem : ""};
      const auto [at, is_new] = seen.emplace(same, rows.size());
      if (is_new)
        rows.push_back(std::move(row));
      else if (rows[at->second].kernel->comparison.problem != kernel.comparison.problem)
        ++rows[at->second].problems;
    }
  return rows;
}

/// Everything that has to be compiled, each once.
std::map<std::string, compile::CompileJob> jobs_of(const std::vector<RowJob>& rows) {
  std::map<std::string, compile::CompileJob> jobs;
  for (const RowJob& row : rows)
    for (const SideJob* side : {&row.base, &row.candidate}) {
      if (!side->key.empty()) jobs.emplace(side->key, side->job);
      if (!side->reference_key.empty()) jobs.emplace(side->reference_key, side->reference);
    }
  return jobs;
}

/// The same code, launched in the same way.
bool is_same(const RowJob& row, const model::KernelBinary& base, const model::KernelBinary& candidate) {
  return hash_of(base) == hash_of(candidate) && row.base.launches == row.candidate.launches;
}

verdict::StaticSide side_of(const SideJob& side, const model::KernelBinary& binary, const CodeCounts& counts) {
  verdict::StaticSide result;
  result.code_hash = hash_of(binary);
  for (const model::LaunchPlan& launch : side.plan.launches) {
    verdict::StaticKernel kernel;
    kernel.name = launch.kernel;
    kernel.threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
    kernel.dynamic_shared_bytes = launch.smem_bytes;
    if (const auto at = binary.resources.find(launch.kernel); at != binary.resources.end())
      kernel.resources = at->second;
    if (const auto at = counts.find(side.key); at != counts.end())
      kernel.sass = compile::counts_of(at->second, launch.kernel);
    result.kernels.push_back(std::move(kernel));
  }
  return result;
}

verdict::Row blank_row(const RowJob& job) {
  const model::Comparison& comparison = job.kernel->comparison;
  verdict::Row row;
  row.op = comparison.op;
  row.problem = comparison.problem;
  if (job.problems > 1) row.problem += fmt::format(" (+{} alike)", job.problems - 1);
  row.base_variant = comparison.base.variant.text();
  row.candidate_variant = comparison.candidate.variant.text();
  row.source = comparison.candidate.source;
  row.target = job.pass->facts.target;
  return row;
}

/// A compiler that crashed or took too long: what base is like is not known.
bool says_nothing(const model::Failure& failure) {
  return failure.transient || failure.outcome == model::Outcome::kTimedOut;
}

verdict::Row judge(const RowJob& job, const Binaries& binaries, const CodeCounts& counts,
                   const verdict::StaticRules& rules) {
  verdict::Row row = blank_row(job);
  const model::Comparison& comparison = job.kernel->comparison;
  if (comparison.candidate.failure) {
    row.verdict = verdict::Verdict::kWrong;
    row.reason = comparison.candidate.failure->reason;
    return row;
  }
  if (job.candidate.key.empty()) {
    row.reason = "the candidate has no such kernel";
    return row;
  }
  const auto& candidate = binaries.at(job.candidate.key);
  if (!candidate) {
    row.verdict = verdict::Verdict::kWrong;
    row.reason = candidate.error().reason;
    return row;
  }
  if (const auto& reference = binaries.at(job.candidate.reference_key); !reference) {
    row.verdict = verdict::Verdict::kWrong;
    row.reason = "reference: " + reference.error().reason;
    return row;
  }
  row.blocks = false;
  if (comparison.base.failure) {
    row.reason = "base does not compile: " + comparison.base.failure->reason;
    return row;
  }
  if (job.base.key.empty()) {
    row.reason = "new: base has no such kernel";
    return row;
  }
  const auto& base = binaries.at(job.base.key);
  if (!base) {
    row.reason = "base does not compile: " + base.error().reason;
    row.blocks = says_nothing(base.error());
    return row;
  }
  row.blocks = true;
  const auto multiprocessor = verdict::multiprocessor_of(job.pass->facts.sm);
  KTUNE_CHECK(multiprocessor.has_value());
  verdict::StaticJudgement judgement = verdict::judge_static(
      side_of(job.base, *base, counts), side_of(job.candidate, *candidate, counts), *multiprocessor, rules);
  row.verdict = judgement.verdict;
  row.reason = judgement.reason;
  row.identical = judgement.identical;
  row.changes = std::move(judgement.changes);
  return row;
}

std::set<std::string> keys_to_count(const std::vector<RowJob>& rows, const Binaries& binaries) {
  std::set<std::string> keys;
  for (const RowJob& row : rows) {
    if (row.base.key.empty() || row.candidate.key.empty()) continue;
    const auto& base = binaries.at(row.base.key);
    const auto& candidate = binaries.at(row.candidate.key);
    if (!base || !candidate || is_same(row, *base, *candidate)) continue;
    keys.insert(row.base.key);
    keys.insert(row.candidate.key);
  }
  return keys;
}

/// What passed and yet is not what it was: tables show no reasons of what passes.
void add_notes(verdict::Result& result) {
  constexpr std::size_t kMost = 20;
  std::size_t changed = 0;
  for (const verdict::Row& row : result.rows) {
    if (row.verdict != verdict::Verdict::kPass || row.changes.empty() || ++changed > kMost) continue;
    result.notes.push_back(fmt::format("{} {} for {}: {}", row.op, row.problem, row.target, row.reason));
  }
  if (changed > kMost) result.notes.push_back(fmt::format("and {} more that changed and pass", changed - kMost));
}

/// What values are held against is the candidate's own word: a change of it is said.
void note_references(const std::vector<RowJob>& rows, const Binaries& binaries, verdict::Result& result) {
  std::set<std::string> changed;
  for (const RowJob& row : rows) {
    if (row.base.reference_key.empty() || row.candidate.reference_key.empty()) continue;
    const auto& base = binaries.at(row.base.reference_key);
    const auto& candidate = binaries.at(row.candidate.reference_key);
    if (!base || !candidate) continue;
    if (hash_of(*base) != hash_of(*candidate)) changed.insert(row.kernel->comparison.op);
  }
  if (!changed.empty()) result.notes.push_back(changed_references_note(changed));
}

}  // namespace

verdict::Result run_static_gate(const StaticGate& options) {
  const double start_s = now_s();
  for (const std::string& target : options.targets) compile::target_facts(target);
  verdict::Result result = begin_result(verdict::Mode::kStatic, options.provenance);
  result.base = options.base;
  result.candidate = options.candidate;
  const std::deque<Pass> passes = find_kernels(options, result);
  const std::vector<RowJob> rows = row_jobs(passes, options.compile_deadline_s);
  const Binaries binaries = compile_all(jobs_of(rows), options.jobs);
  const CodeCounts counts = count_all(keys_to_count(rows, binaries), binaries);
  for (const RowJob& row : rows) result.rows.push_back(judge(row, binaries, counts, options.rules));
  add_notes(result);
  note_references(rows, binaries, result);
  for (const Pass& pass : passes)
    for (const std::string& note : pass.kernels.notes)
      if (std::find(result.notes.begin(), result.notes.end(), note) == result.notes.end()) result.notes.push_back(note);
  result.verdict = verdict::overall(result.rows);
  result.seconds = now_s() - start_s;
  if (interrupted()) throw Error(ErrorKind::kInterrupted, "interrupted; not everything was compared");
  return result;
}

}  // namespace ktune::gate
