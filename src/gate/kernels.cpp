#include "gate/kernels.h"

#include <fmt/format.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "expr/resolve.h"
#include "spec/spec.h"
#include "sweep/winners.h"

namespace ktune::gate {

namespace fs = std::filesystem;

namespace {

/// The inputs a sweep uses.
std::uint64_t input_seed() { return sweep::Options{}.seed; }

class KernelList {
 public:
  KernelList(const sweep::Selection& selection, const GateSide& base, const GateSide& candidate,
             const KernelChoice& choice, const model::DeviceFacts& facts)
      : selection_(selection),
        base_(base),
        candidate_(candidate),
        choice_(choice),
        facts_(facts),
        winners_(sweep::winners_of(choice.variant, choice.database, facts.name)) {}

  GateKernels make() {
    std::set<fs::path> seen;
    for (const SpecItem& item : gate_items(selection_, base_, candidate_))
      if (seen.insert(item.path).second) add_item(item);
    if (result_.kernels.empty())
      throw Error(ErrorKind::kNoData, "nothing to compare: no problem is selected on either side",
                  "give --shape, or a [[problem]] with use = [\"bench\"] in the spec");
    for (std::string& note : stand_ins_.notes()) result_.notes.push_back(std::move(note));
    for (const GateSide* side : {&base_, &candidate_})
      for (const auto& [name, tree] : side->trees) result_.trees.push_back(tree);
    return std::move(result_);
  }

 private:
  std::vector<model::Problem> problems_of(const model::OpSpec& spec) const {
    if (!selection_.shapes.empty()) return spec::select_problems(spec, request_of(selection_, ""));
    const std::string use = sweep::use_of(spec, facts_.kind == "cpu" ? "cpu" : choice_.use);
    return spec::select_problems(spec, request_of(selection_, use));
  }

  static std::shared_ptr<const model::OpSpec> shared(std::optional<model::OpSpec> spec) {
    return spec ? std::make_shared<const model::OpSpec>(std::move(*spec)) : nullptr;
  }

  /// An op as one side has it.
  struct Loaded {
    std::shared_ptr<const model::OpSpec> spec;
    std::vector<model::Problem> problems;
    std::optional<model::Failure> failure;
    std::exception_ptr error;
  };

  /// A revision whose spec is broken is a kernel that does not run, not a mistake of the command line.
  Loaded load(const GateSide& side, const SpecItem& item) {
    Loaded loaded;
    try {
      const std::shared_ptr<const model::OpSpec> spec = shared(side.load(item));
      if (!spec) return loaded;
      if (!fs::exists(spec->source_path))
        throw Error(ErrorKind::kUsage, fmt::format("{} does not exist", spec->source_path), "", spec->spec_path);
      loaded.spec = spec;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUsage) throw;
      loaded.failure = failure_of(side, error);
      loaded.error = std::current_exception();
      return loaded;
    }
    loaded.problems = problems_of(*loaded.spec);
    return loaded;
  }

  static model::Failure failure_of(const GateSide& side, const Error& error) {
    const std::string where = error.where().empty() ? "" : side.readable(split(error.where(), '\n').front()) + ": ";
    return {model::Outcome::kCompileFailed, where + side.readable(error.message()), error.where()};
  }

  void add_item(const SpecItem& item) {
    if (base_.kind == GateSide::Kind::kWinner || candidate_.kind == GateSide::Kind::kWinner) return add_winners(item);
    const Loaded base = load(base_, item), candidate = load(candidate_, item);
    if (!base.spec && !candidate.spec) {
      // Nothing to go by on either side: the command line's mistake after all.
      if (candidate.error) std::rethrow_exception(candidate.error);
      if (base.error) std::rethrow_exception(base.error);
      if (!item.op.empty()) spec::load_shipped_op(item.op);  // says "did you mean"
      spec::load_op(item.path.string());
    }
    std::vector<model::Problem> problems = base.problems;
    for (const model::Problem& problem : candidate.problems)
      if (!holds(problems, problem)) problems.push_back(problem);
    for (const model::Problem& problem : problems) {
      GateKernel kernel;
      kernel.base = version(base_, base, problem);
      kernel.candidate = version(candidate_, candidate, problem);
      add(std::move(kernel), problem);
    }
    if (base.spec && candidate.spec && base.spec->name != candidate.spec->name)
      result_.notes.push_back(fmt::format("{} of {} is compared with {} of {}", base.spec->name, base_.label,
                                          candidate.spec->name, candidate_.label));
  }

  GateVersion version(const GateSide& side, const Loaded& loaded, const model::Problem& problem) {
    GateVersion broken;
    broken.failure = loaded.failure;
    if (loaded.failure || !holds(loaded.problems, problem)) return broken;
    try {
      return version(side, loaded.spec, problem, nullptr);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUsage || side.kind == GateSide::Kind::kVariant ||
          choice_.variant != sweep::VariantChoice{})
        throw;
      broken.failure = failure_of(side, error);
      return broken;
    }
  }

  /// A stored winner against a tree, or two stored winners.
  void add_winners(const SpecItem& item) {
    const GateSide& named = base_.kind == GateSide::Kind::kWinner ? base_ : candidate_;
    for (const model::ProblemRecord& record : named.winners) {
      if (!selects(item, record)) continue;
      GateKernel kernel;
      kernel.base = winner_version(base_, item, record);
      kernel.candidate = winner_version(candidate_, item, record);
      add(std::move(kernel), record.problem);
    }
  }

  bool selects(const SpecItem& item, const model::ProblemRecord& record) const {
    if (!item.op.empty() ? record.op != item.op : record.op != spec::load_op(item.path.string()).name) return false;
    if (selection_.shapes.empty() && selection_.dtypes.empty()) return true;
    std::optional<model::OpSpec> spec =
        candidate_.kind == GateSide::Kind::kWinner ? candidate_.load(record) : candidate_.load(item);
    if (!spec) return true;  // gone: said as such
    sweep::Selection wanted = selection_;
    if (wanted.shapes.empty()) {
      std::string shape;
      for (const auto& [name, size] : record.problem.dims)
        shape += fmt::format("{}{}={}", shape.empty() ? "" : ",", name, size);
      wanted.shapes = {shape};
    }
    return holds(spec::select_problems(*spec, request_of(wanted, "")), record.problem);
  }

  GateVersion winner_version(const GateSide& side, const SpecItem& item, const model::ProblemRecord& record) {
    if (side.kind != GateSide::Kind::kWinner) {
      // A tree is judged by the winner's variant, a variant by itself.
      return version(side, shared(side.load(item)), record.problem,
                     side.kind == GateSide::Kind::kVariant ? nullptr : &record.winner);
    }
    const model::ProblemRecord* own = sweep::find_winner(side.winners, record.op, record.problem.text());
    if (own == nullptr) return {};
    std::optional<model::OpSpec> spec = side.load(*own);
    if (!spec)
      throw Error(ErrorKind::kNoData,
                  fmt::format("the database keeps no source of {} {}", record.op, record.problem.text()),
                  "its session is of before ktune kept sources: sweep again");
    return version(side, shared(std::move(spec)), record.problem, &own->winner);
  }

  /// Nothing where the side has no such op, problem or variant.
  GateVersion version(const GateSide& side, const std::shared_ptr<const model::OpSpec>& spec,
                      const model::Problem& problem, const model::Variant* variant) {
    GateVersion version;
    if (!spec) return version;
    try {
      version.prepared =
          sweep::prepare_unswept({spec, spec, {}}, spec::complete_problem(*spec, problem), facts_, input_seed());
    } catch (const Error&) {
      if (variant == nullptr) throw;
      return version;  // a winner's problem that the op no longer knows
    }
    if (variant == nullptr) {
      const auto& choice = side.kind == GateSide::Kind::kVariant ? side.variant : choice_.variant;
      const sweep::ChosenVariant chosen = sweep::choose_variant(choice, *version.prepared, winners_);
      // The other side has the winner, perhaps: the default of this one is not what that is compared with.
      if (chosen.origin == sweep::ChosenVariant::Origin::kWinnerGone) return {};
      stand_ins_.add(*version.prepared, chosen);
      version.variant = chosen.variant;
      return version;
    }
    try {
      version.variant = sweep::named_variant(*version.prepared, variant->text());
    } catch (const Error&) {
      return {};
    }
    return version;
  }

  static bool holds(const std::vector<model::Problem>& problems, const model::Problem& problem) {
    return std::any_of(problems.begin(), problems.end(),
                       [&](const model::Problem& one) { return one.text() == problem.text(); });
  }

  static void describe(const GateSide& side, const GateVersion& version, model::ComparedSide& to) {
    to.label = side.label;
    to.commit = side.commit;
    to.missing = !version.prepared && !version.failure;
    to.failure = version.failure;
    if (!version.prepared) return;
    to.variant = version.variant;
    to.source = side.display(version.prepared->full->source_path);
  }

  void add(GateKernel kernel, const model::Problem& problem) {
    kernel.comparison.op = kernel.candidate.prepared ? kernel.candidate.prepared->spec->name
                           : kernel.base.prepared    ? kernel.base.prepared->spec->name
                                                     : problem.op;
    kernel.comparison.problem = problem.text();
    describe(base_, kernel.base, kernel.comparison.base);
    describe(candidate_, kernel.candidate, kernel.comparison.candidate);
    result_.kernels.push_back(std::move(kernel));
  }

  const sweep::Selection& selection_;
  const GateSide& base_;
  const GateSide& candidate_;
  const KernelChoice& choice_;
  const model::DeviceFacts& facts_;
  std::vector<model::ProblemRecord> winners_;
  sweep::StandIns stand_ins_;
  GateKernels result_;
};

}  // namespace

GateKernels gate_kernels(const sweep::Selection& selection, const GateSide& base, const GateSide& candidate,
                         const KernelChoice& choice, const model::DeviceFacts& facts) {
  return KernelList(selection, base, candidate, choice, facts).make();
}

std::string changed_references_note(const std::set<std::string>& ops) {
  return fmt::format(
      "the reference of {} changed, or code compiled with it (#ifndef KTUNE_REFERENCE keeps it out): values are held "
      "against each side's own",
      fmt::join(ops, ", "));
}

}  // namespace ktune::gate
