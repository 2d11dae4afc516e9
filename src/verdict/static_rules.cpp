#include "verdict/static_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

// Nothing here is a time: the rules name what made kernels slower often enough to be looked at, and leave the rest to
// notes. Instructions are counted in the text, so a longer loop body is not more work, only a reason to look.

namespace ktune::verdict {
namespace {

constexpr int kWarp = 32;
constexpr int kRegisters = 65536;
constexpr int kPartitions = 4;

/// "CUDA C++ Programming Guide", technical specifications by compute capability; cuda_occupancy.h.
constexpr std::array kMultiprocessors{Multiprocessor{80, 2048, 32, 164 << 10}, Multiprocessor{90, 2048, 32, 228 << 10},
                                      Multiprocessor{100, 2048, 32, 228 << 10},
                                      Multiprocessor{120, 1536, 24, 100 << 10}};

std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

/// What is said of a version's kernels, by name; of all of them together where the names differ.
std::vector<StaticKernel> merged(const std::vector<StaticKernel>& kernels) {
  StaticKernel all;
  all.resources = {0, 0, 0, 0, 0};
  for (const StaticKernel& kernel : kernels) {
    auto& to = all.resources;
    const auto& from = kernel.resources;
    to.registers = std::max(to.registers, from.registers);
    to.shared_bytes = std::max(to.shared_bytes, from.shared_bytes);
    to.local_bytes += from.local_bytes;
    to.spill_store_bytes += from.spill_store_bytes;
    to.spill_load_bytes += from.spill_load_bytes;
    all.dynamic_shared_bytes = std::max(all.dynamic_shared_bytes, kernel.dynamic_shared_bytes);
    all.threads = std::max(all.threads, kernel.threads);
    all.sass.instructions += kernel.sass.instructions;
    for (const auto& [name, count] : kernel.sass.classes) all.sass.classes[name] += count;
    for (const auto& [access, widths] : kernel.sass.widths)
      for (const auto& [bits, count] : widths) all.sass.widths[access][bits] += count;
  }
  return {all};
}

bool known(const std::vector<StaticKernel>& kernels) {
  return std::all_of(kernels.begin(), kernels.end(), [](const StaticKernel& kernel) {
    return kernel.resources.registers >= 0 && kernel.resources.spill_store_bytes >= 0 &&
           kernel.resources.spill_load_bytes >= 0;
  });
}

std::int64_t shared_of(const StaticKernel& kernel) {
  return std::max(0, kernel.resources.shared_bytes) + kernel.dynamic_shared_bytes;
}

/// Accesses of global memory by width, loads, stores and copies to shared memory together.
std::map<int, std::int64_t> global_widths(const model::SassCounts& sass) {
  std::map<int, std::int64_t> sum;
  for (const char* access : {"LDG", "STG", "LDGSTS"}) {
    const auto at = sass.widths.find(access);
    if (at == sass.widths.end()) continue;
    for (const auto& [bits, count] : at->second) sum[bits] += count;
  }
  return sum;
}

/// How many are at least so wide, and how many narrower.
std::pair<std::int64_t, std::int64_t> split_at(const std::map<int, std::int64_t>& widths, int bits) {
  std::pair<std::int64_t, std::int64_t> split{0, 0};
  for (const auto& [width, count] : widths) (width >= bits ? split.first : split.second) += count;
  return split;
}

/// More of them are so wide, and not only because there are more.
bool grew(std::pair<std::int64_t, std::int64_t> before, std::pair<std::int64_t, std::int64_t> after) {
  return after.first > before.first && after.first * before.second > before.first * after.second;
}

std::string percent(std::int64_t base, std::int64_t candidate) {
  return fmt::format("{:+.1f} %", 100.0 * static_cast<double>(candidate - base) / static_cast<double>(base));
}

/// One kernel in two versions.
class KernelJudge {
 public:
  KernelJudge(std::string prefix, const Multiprocessor& multiprocessor, const StaticRules& rules)
      : prefix_(std::move(prefix)), multiprocessor_(multiprocessor), rules_(rules) {}

  void judge(const StaticKernel& base, const StaticKernel& candidate) {
    judge_spills(base.resources, candidate.resources);
    judge_blocks(base, candidate);
    judge_widths(base.sass, candidate.sass);
    judge_instructions(base.sass, candidate.sass);
    list_counts(base.sass, candidate.sass);
  }

  std::vector<std::string> regressions, notes;
  std::vector<Change> changes;

 private:
  bool change(const std::string& what, std::int64_t base, std::int64_t candidate) {
    if (base != candidate) changes.push_back({prefix_ + what, std::to_string(base), std::to_string(candidate)});
    return base != candidate;
  }
  void regress(const std::string& text) { regressions.push_back(prefix_ + text); }
  void note(const std::string& text) { notes.push_back(prefix_ + text); }

  void judge_spills(const model::KernelResources& base, const model::KernelResources& candidate) {
    const bool stores = change("spill store bytes", base.spill_store_bytes, candidate.spill_store_bytes);
    const bool loads = change("spill load bytes", base.spill_load_bytes, candidate.spill_load_bytes);
    const std::string text =
        fmt::format("spills {} → {} B stored, {} → {} B loaded", base.spill_store_bytes, candidate.spill_store_bytes,
                    base.spill_load_bytes, candidate.spill_load_bytes);
    if (candidate.spill_store_bytes > base.spill_store_bytes || candidate.spill_load_bytes > base.spill_load_bytes)
      regress(text);
    else if (stores || loads)
      note(text);
    if (change("local bytes", base.local_bytes, candidate.local_bytes))
      note(fmt::format("stack {} → {} B", base.local_bytes, candidate.local_bytes));
  }

  void judge_blocks(const StaticKernel& base, const StaticKernel& candidate) {
    const auto fit = [&](const StaticKernel& kernel) {
      return blocks_that_fit(multiprocessor_, kernel.resources.registers, shared_of(kernel), kernel.threads);
    };
    const int before = fit(base), after = fit(candidate);
    std::vector<std::string> parts;
    if (change("registers", base.resources.registers, candidate.resources.registers))
      parts.push_back(fmt::format("registers {} → {}", base.resources.registers, candidate.resources.registers));
    if (change("shared bytes", shared_of(base), shared_of(candidate)))
      parts.push_back(fmt::format("shared memory {} → {} B", shared_of(base), shared_of(candidate)));
    if (change("threads per block", base.threads, candidate.threads))
      parts.push_back(fmt::format("threads per block {} → {}", base.threads, candidate.threads));
    change("blocks per multiprocessor", before, after);
    if (parts.empty()) return;
    const bool fewer = after * candidate.threads < before * base.threads;
    const bool cannot_run = after == 0;
    const bool grew =
        candidate.resources.registers > base.resources.registers || shared_of(candidate) > shared_of(base);
    if (cannot_run || (fewer && grew))
      regress(fmt::format("{}: {} → {} block{} fit a multiprocessor", join(parts, ", "), before, after,
                          after == 1 ? "" : "s"));
    else if (before == after)
      note(fmt::format("{}, still {} block{}", join(parts, ", "), after, after == 1 ? "" : "s"));
    else
      note(fmt::format("{}: {} → {} block{}", join(parts, ", "), before, after, after == 1 ? "" : "s"));
  }

  void judge_widths(const model::SassCounts& base, const model::SassCounts& candidate) {
    constexpr int kWide = 128;
    const auto before = global_widths(base), after = global_widths(candidate);
    if (before.empty() || before == after) return;
    const int widest = std::max(before.rbegin()->first, after.empty() ? 0 : after.rbegin()->first);
    const auto text_at = [&](int wide) {
      const auto [wide_before, narrow_before] = split_at(before, wide);
      const auto [wide_after, narrow_after] = split_at(after, wide);
      return fmt::format("{}-bit{} global accesses: {} of {} → {} of {} (of all global memory instructions)", wide,
                         widest > wide ? " or wider" : "", wide_before, wide_before + narrow_before, wide_after,
                         wide_after + narrow_after);
    };
    const int wide = std::min(kWide, before.rbegin()->first);
    const auto [wide_before, narrow_before] = split_at(before, wide);
    const auto [wide_after, narrow_after] = split_at(after, wide);
    const bool all_narrow = wide_after == 0 && narrow_after > 0;
    if (all_narrow || (wide_after < wide_before && narrow_after > narrow_before)) return regress(text_at(wide));
    // Scalar accesses that became vectors are all as wide as base's widest: what they grew to says more.
    const int wider = std::min(kWide, widest);
    if (grew(split_at(before, wider), split_at(after, wider))) widened_ = text_at(wider);
    if (!widened_.empty() || wide_before != wide_after || narrow_before != narrow_after)
      note(widened_.empty() ? text_at(wide) : widened_);
  }

  void judge_instructions(const model::SassCounts& base, const model::SassCounts& candidate) {
    if (!change("instructions", base.instructions, candidate.instructions) || base.instructions == 0) return;
    const std::string text = fmt::format("instructions {} → {} ({}", base.instructions, candidate.instructions,
                                         percent(base.instructions, candidate.instructions));
    const double limit = static_cast<double>(base.instructions) * (1.0 + rules_.max_instructions_pct / 100.0);
    if (static_cast<double>(candidate.instructions) > limit)
      regress(fmt::format("{}, limit {:g} %){}", text, rules_.max_instructions_pct,
                          widened_.empty() ? "" : ", while accesses widened: " + widened_));
    else
      note(text + ")");
  }

  void list_counts(const model::SassCounts& base, const model::SassCounts& candidate) {
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> counts;
    for (const auto& [name, count] : base.classes) counts[name + " instructions"].first = count;
    for (const auto& [name, count] : candidate.classes) counts[name + " instructions"].second = count;
    for (const auto& [access, widths] : base.widths)
      for (const auto& [bits, count] : widths) counts[fmt::format("{}.{}", access, bits)].first = count;
    for (const auto& [access, widths] : candidate.widths)
      for (const auto& [bits, count] : widths) counts[fmt::format("{}.{}", access, bits)].second = count;
    for (const auto& [what, count] : counts) change(what, count.first, count.second);
  }

  std::string prefix_;
  std::string widened_;  ///< what judge_widths saw of accesses that became wider: more instructions may be their price
  const Multiprocessor& multiprocessor_;
  const StaticRules& rules_;
};

std::vector<std::string> names_of(const std::vector<StaticKernel>& kernels) {
  std::vector<std::string> names;
  for (const StaticKernel& kernel : kernels) names.push_back(kernel.name);
  return names;
}

bool launched_alike(const StaticSide& base, const StaticSide& candidate) {
  return std::equal(base.kernels.begin(), base.kernels.end(), candidate.kernels.begin(), candidate.kernels.end(),
                    [](const StaticKernel& a, const StaticKernel& b) {
                      return a.name == b.name && a.threads == b.threads &&
                             a.dynamic_shared_bytes == b.dynamic_shared_bytes;
                    });
}

}  // namespace

std::optional<Multiprocessor> multiprocessor_of(int sm) {
  for (const Multiprocessor& one : kMultiprocessors)
    if (one.sm == sm) return one;
  return std::nullopt;
}

int blocks_that_fit(const Multiprocessor& multiprocessor, int registers, std::int64_t shared_bytes, int threads) {
  constexpr std::int64_t kRegisterUnit = 256, kSharedUnit = 128, kDriverBytes = 1024, kMostThreads = 1024;
  if (threads > kMostThreads) return 0;
  const std::int64_t warps = (std::max(threads, 1) + kWarp - 1) / kWarp;
  std::int64_t blocks = std::min<std::int64_t>(multiprocessor.blocks, multiprocessor.threads / (warps * kWarp));
  if (registers > 0) {
    const std::int64_t per_warp = round_up(std::int64_t{registers} * kWarp, kRegisterUnit);
    blocks = std::min(blocks, kRegisters / kPartitions / per_warp * kPartitions / warps);
  }
  blocks = std::min(blocks, multiprocessor.shared_bytes / round_up(shared_bytes + kDriverBytes, kSharedUnit));
  return static_cast<int>(blocks);
}

StaticJudgement judge_static(const StaticSide& base, const StaticSide& candidate, const Multiprocessor& multiprocessor,
                             const StaticRules& rules) {
  StaticJudgement judgement;
  if (base.kernels.empty() || candidate.kernels.empty()) {
    judgement.reason = "nothing is launched";
    return judgement;
  }
  if (!base.code_hash.empty() && base.code_hash == candidate.code_hash && launched_alike(base, candidate)) {
    judgement.verdict = Verdict::kPass;
    judgement.identical = true;
    judgement.reason = "same machine code";
    return judgement;
  }
  if (!known(base.kernels) || !known(candidate.kernels)) {
    judgement.reason = "the compiler did not say what registers the kernels take";
    return judgement;
  }
  const auto names = names_of(base.kernels), new_names = names_of(candidate.kernels);
  const bool same_names = names == new_names;
  const auto before = same_names ? base.kernels : merged(base.kernels);
  const auto after = same_names ? candidate.kernels : merged(candidate.kernels);
  std::vector<std::string> regressions, notes;
  if (!same_names) {
    judgement.changes.push_back({"kernels", join(names, ", "), join(new_names, ", ")});
    notes.push_back(fmt::format("kernels {} → {}, compared as one", join(names, ", "), join(new_names, ", ")));
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    KernelJudge judge(before.size() > 1 ? before[i].name + ": " : "", multiprocessor, rules);
    judge.judge(before[i], after[i]);
    regressions.insert(regressions.end(), judge.regressions.begin(), judge.regressions.end());
    notes.insert(notes.end(), judge.notes.begin(), judge.notes.end());
    judgement.changes.insert(judgement.changes.end(), judge.changes.begin(), judge.changes.end());
  }
  judgement.verdict = regressions.empty() ? Verdict::kPass : Verdict::kRegressed;
  judgement.reason = join(regressions.empty() ? notes : regressions, "; ");
  if (judgement.reason.empty()) judgement.reason = "other machine code, the same figures";
  return judgement;
}

}  // namespace ktune::verdict
