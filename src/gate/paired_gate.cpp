#include "gate/paired_gate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "compile/compile.h"
#include "gate/begin_result.h"
#include "gate/kernels.h"
#include "model/json.h"
#include "store/store.h"
#include "sweep/paired.h"
#include "verdict/noise.h"
#include "verdict/self.h"

namespace ktune::gate {

namespace {

/// One version of a kernel, compiled, with what is known of its machine code ("" where nothing is).
struct Version {
  sweep::ReadyKernel kernel;
  std::string code, reference_code;
};

struct Compiled {
  std::optional<Version> base, candidate;
};

class PairedGate {
 public:
  PairedGate(const PairedGateOptions& options, const model::DeviceFacts& facts)
      : options_(options),
        facts_(facts),
        ops_root_(ops_root(options.selection, {options.base, options.self ? options.base : options.candidate})),
        base_(side(options.base)),
        candidate_(options.self ? base_ : side(options.candidate)),
        list_(gate_kernels(options.selection, base_, candidate_, {options.variant, options.database}, facts)),
        stored_(stored_noise()) {
    sweep::ProcessOptions process = options.process;
    process.say = [this](const std::string& text) { options_.notices.say(text); };
    processes_ = options.open_processes(facts, process);
  }

  verdict::Result run(std::optional<Error>& unkept) {
    const double start = now_s();
    compile_both();
    decide_timers();
    verify_untimed();
    time_round(all(), false);
    time_round(open(), true);
    options_.notices.show_progress("");
    verdict::Result result = header();
    result.rows = verdict::judge_all(comparisons(), options_.rules, stored_);
    result.verdict = verdict::overall(result.rows);
    if (options_.self) keep_noise(result, unkept);
    result.seconds = now_s() - start;
    return result;
  }

 private:
  GateSide side(const std::string& reference) const {
    return resolve_reference(reference, ops_root_, options_.selection, facts_.name, options_.database);
  }

  std::optional<model::ProcessNoise> stored_noise() const {
    try {
      return store::Store(options_.database, store::Store::Mode::kRead).noise(facts_, options_.process.cache_state);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kNoData) throw;
      return std::nullopt;
    }
  }

  void compile_both() {
    options_.notices.show_progress(
        fmt::format("compiling {} kernel{}", list_.kernels.size(), list_.kernels.size() == 1 ? "" : "s"));
    std::vector<sweep::KernelRequest> requests;
    for (const GateKernel& kernel : list_.kernels)
      for (const GateVersion* version : {&kernel.base, &kernel.candidate})
        if (version->prepared) requests.push_back({version->prepared, version->variant});
    auto compiled = processes_->compile(requests);
    std::size_t next = 0;
    for (GateKernel& kernel : list_.kernels) {
      Compiled& both = compiled_.emplace_back();
      if (kernel.base.prepared) take(std::move(compiled[next++]), both.base, kernel.comparison.base);
      if (kernel.candidate.prepared) take(std::move(compiled[next++]), both.candidate, kernel.comparison.candidate);
      kernel.comparison.cache_state = name_of(options_.process.cache_state);
      if (!both.base || !both.candidate) continue;
      kernel.comparison.identical = !options_.self && !options_.time_identical && same(*both.base, *both.candidate);
      note_changes(kernel.comparison, *both.base, *both.candidate);
    }
  }

  /// What values are held against, and on which inputs, is the candidate's own word: a change of it is said.
  void note_changes(const model::Comparison& comparison, const Version& base, const Version& candidate) {
    const std::string &before = base.reference_code, &after = candidate.reference_code;
    if (!before.empty() && !after.empty() && before != after) changed_references_.insert(comparison.op);
    const model::ProblemPlan& one = base.kernel.prepared->plan;
    const model::ProblemPlan& other = candidate.kernel.prepared->plan;
    if (model::Json(one.tensors) != model::Json(other.tensors) ||
        model::Json(one.reference) != model::Json(other.reference))
      changed_inputs_.insert(comparison.op);
  }

  static void take(model::Result<sweep::ReadyKernel> compiled, std::optional<Version>& to, model::ComparedSide& side) {
    if (!compiled) {
      side.failure = compiled.error();
      return;
    }
    to = Version{*compiled, compile::code_hash(compiled->binary), compile::code_hash(compiled->reference)};
    side.code_hash = to->code;
    side.resources = compiled->binary.resources;
  }

  /// The same machine code, launched in the same way on the same inputs: the toolchain is the same by being one.
  static bool same(const Version& a, const Version& b) {
    const auto same_code = [](const model::KernelBinary& one, const std::string& code, const model::KernelBinary& other,
                              const std::string& other_code) {
      return one.key == other.key || (!code.empty() && code == other_code);
    };
    model::VariantPlan plan = b.kernel.plan;
    plan.variant = a.kernel.plan.variant;  // a name: what it launches is below
    return same_code(a.kernel.binary, a.code, b.kernel.binary, b.code) &&
           same_code(a.kernel.reference, a.reference_code, b.kernel.reference, b.reference_code) &&
           model::Json(a.kernel.plan) == model::Json(plan) &&
           model::Json(a.kernel.prepared->plan) == model::Json(b.kernel.prepared->plan);
  }

  /// A kernel that base does not have, cannot run, or has as the same machine code, is not timed; but it may be wrong.
  void verify_untimed() {
    std::vector<sweep::ReadyKernel> kernels;
    std::vector<model::Comparison*> of;
    for (std::size_t i = 0; i < list_.kernels.size(); ++i) {
      model::Comparison& comparison = list_.kernels[i].comparison;
      const bool timed = !comparison.base.missing && !comparison.base.failure && !comparison.identical;
      if (!compiled_[i].candidate || timed) continue;
      kernels.push_back(compiled_[i].candidate->kernel);
      of.push_back(&comparison);
    }
    const std::vector<model::Status> statuses = processes_->verify(kernels);
    for (std::size_t i = 0; i < of.size(); ++i)
      if (!statuses[i]) of[i]->candidate.failure = statuses[i].error();
  }

  bool to_be_timed(std::size_t i) const {
    const model::Comparison& comparison = list_.kernels[i].comparison;
    return compiled_[i].base && compiled_[i].candidate && !comparison.identical && !comparison.base.failure &&
           !comparison.candidate.failure;
  }

  void decide_timers() {
    std::vector<sweep::ReadyKernel> bases;
    std::vector<model::Comparison*> of;
    for (std::size_t i = 0; i < list_.kernels.size(); ++i) {
      if (!to_be_timed(i)) continue;
      bases.push_back(compiled_[i].base->kernel);
      of.push_back(&list_.kernels[i].comparison);
    }
    if (bases.empty()) return;
    options_.notices.show_progress(fmt::format("choosing timers, {} of them", bases.size()));
    const auto timers = processes_->decide_timers(bases);
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (timers[i])
        of[i]->timer = *timers[i];
      else
        of[i]->base.failure = timers[i].error();
    }
  }

  std::vector<std::size_t> all() const {
    std::vector<std::size_t> places(list_.kernels.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    return places;
  }

  /// What the first round leaves to be confirmed or known better.
  std::vector<std::size_t> open() const {
    const std::vector<model::Comparison> compared = comparisons();
    const verdict::PairNoise noise(compared, stored_);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < compared.size(); ++i)
      if (verdict::need_of(compared[i], noise.sd_of(i), options_.rules) != verdict::Need::kNothing) places.push_back(i);
    return places;
  }

  void time_round(const std::vector<std::size_t>& places, bool fresh) {
    std::vector<sweep::KernelPair> pairs;
    for (const std::size_t i : places)
      if (to_be_timed(i))
        pairs.push_back({&compiled_[i].base->kernel, &compiled_[i].candidate->kernel, &list_.kernels[i].comparison});
    if (pairs.empty()) return;
    sweep::PairedOptions paired{options_.rules.pairs, options_.seed + (fresh ? 1 : 0), fresh, {}};
    paired.progress = [&](int done, int count) {
      options_.notices.show_progress(fmt::format("{}: process {} of {}, {} kernel{}",
                                                 fresh ? "once more" : "first round", done, count, pairs.size(),
                                                 pairs.size() == 1 ? "" : "s"));
    };
    sweep::time_pairs(pairs, *processes_, paired);
  }

  std::vector<model::Comparison> comparisons() const {
    std::vector<model::Comparison> all;
    for (const GateKernel& kernel : list_.kernels) all.push_back(kernel.comparison);
    return all;
  }

  verdict::Result header() const {
    verdict::Result result =
        begin_result(options_.self ? verdict::Mode::kSelf : verdict::Mode::kPaired, options_.provenance);
    result.base = base_.label;
    result.candidate = candidate_.label;
    result.base_commit = base_.commit;
    result.candidate_commit = candidate_.commit;
    result.device = facts_;
    result.delta_pct = options_.rules.delta_pct;
    result.delta_us = options_.rules.delta_us;
    result.pairs = options_.rules.pairs;
    result.seed = options_.seed;
    result.pass_inconclusive = options_.self;  // noise is what --aa is there to find
    result.notes = list_.notes;
    if (!changed_references_.empty()) result.notes.push_back(changed_references_note(changed_references_));
    if (!changed_inputs_.empty())
      result.notes.push_back(fmt::format("inputs, sizes or tolerances of {} are not the same on both sides",
                                         fmt::join(changed_inputs_, ", ")));
    if (!options_.self && !stored_)
      result.notes.push_back("no A/A run of this device is stored: `ktune gate --aa` says how noisy it is, once");
    if (!options_.self && stored_)
      result.notes.push_back(
          fmt::format("by the A/A run of {} a process varies by {:.3f} µs + {:.2f} % ({} kernel{}): what "
                      "that could make by chance is not called; `ktune gate --aa` measures it anew",
                      stored_->date.substr(0, 10), stored_->constant_us, 100.0 * stored_->relative, stored_->kernels,
                      stored_->kernels == 1 ? "" : "s"));
    return result;
  }

  /// What `--aa` is for: every later gate of this device goes by it.
  void keep_noise(verdict::Result& result, std::optional<Error>& unkept) const {
    const std::vector<model::Comparison> compared = comparisons();
    model::ProcessNoise noise = verdict::fit_noise(compared);
    const std::vector<verdict::SelfComparison> kernels =
        verdict::compare_with_itself(compared, options_.rules, stored_);
    const Table table = verdict::self_table(kernels);
    for (const Table::Column& column : table.columns) result.detail_columns.push_back(column.title);
    for (const auto& row : table.rows) {
      auto& cells = result.details.emplace_back();
      for (const Cell& cell : row) cells.push_back(cell.text);
    }
    for (const std::string& note : verdict::self_notes(kernels, noise)) result.notes.push_back(note);
    if (stored_)
      result.notes.push_back(fmt::format("before, on {}: {:.3f} µs + {:.3f} % of the time ({} kernels)", stored_->date,
                                         stored_->constant_us, 100.0 * stored_->relative, stored_->kernels));
    if (noise.kernels == 0) return;
    if (stored_ && noise.kernels < stored_->kernels) {
      result.notes.push_back(fmt::format("not stored: the A/A run of before was of {} kernels, this of {}",
                                         stored_->kernels, noise.kernels));
      return;
    }
    noise.device = facts_.name;
    noise.driver = facts_.driver;
    noise.power_limit_w = facts_.power_limit_w;
    noise.cache_state = name_of(options_.process.cache_state);
    noise.date = result.date;
    noise.commit = result.commit;
    try {
      store::Store(options_.database, store::Store::Mode::kWrite).add_noise(noise);
    } catch (const Error& error) {  // what was measured is shown all the same
      unkept = error;
      result.notes.push_back("not stored: " + error.message());
      return;
    }
    result.notes.push_back("stored in the database: later gates of this device call no shift that its noise makes");
  }

  const PairedGateOptions& options_;
  const model::DeviceFacts& facts_;
  std::filesystem::path ops_root_;
  GateSide base_, candidate_;
  GateKernels list_;
  std::optional<model::ProcessNoise> stored_;
  std::unique_ptr<sweep::KernelProcesses> processes_;
  std::vector<Compiled> compiled_;
  std::set<std::string> changed_references_, changed_inputs_;
};

}  // namespace

verdict::Result run_paired_gate(const PairedGateOptions& options, const model::DeviceFacts& facts,
                                std::optional<Error>& unkept) {
  return PairedGate(options, facts).run(unkept);
}

}  // namespace ktune::gate
