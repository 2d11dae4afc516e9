#include "sweep/check.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/files.h"
#include "base/process.h"
#include "compile/compile.h"
#include "expr/resolve.h"
#include "trial/build.h"
#include "trial/worker.h"

namespace ktune::sweep {

namespace {

/// One problem's check: compiles all chosen variants, then verifies each as its binary comes.
class ProblemCheck {
 public:
  ProblemCheck(const SharedProblem& prepared, const model::DeviceFacts& facts, const Options& options, CheckScope scope,
               compile::CompilePool& pool, trial::Worker& worker, const std::function<void(const CheckResult&)>& each)
      : prepared_(prepared),
        facts_(facts),
        options_(options),
        scope_(scope),
        pool_(pool),
        worker_(worker),
        each_(each) {}

  void run() {
    const std::vector<std::int64_t> ids = variants_to_check(*prepared_, scope_);
    const std::int64_t reference = pool_.submit(trial::reference_job(
        *prepared_->spec, prepared_->problem, prepared_->default_variant, facts_, options_.compile_deadline_s));
    for (const std::int64_t id : ids)
      compiling_[pool_.submit(trial::variant_job(*prepared_->spec, prepared_->problem, variant(id), facts_,
                                                 options_.compile_deadline_s))] = id;
    while (!interrupted() && (!compiling_.empty() || !ready_.empty())) {
      auto result = pool_.wait(1.0);
      if (result && result->ticket == reference) {
        set_reference(result->binary);
      } else if (result) {
        take(*result);
      }
      if (reference_known_) drain();
    }
  }

 private:
  model::Variant variant(std::int64_t id) const { return prepared_->space.variant(id); }

  void set_reference(model::Result<model::KernelBinary>& binary) {
    reference_known_ = true;
    reference_ = binary ? worker_.set_problem(prepared_->plan, *binary)
                        : model::Status(tl::unexpected<model::Failure>(binary.error()));
    if (!reference_) reference_.error().reason = "reference: " + reference_.error().reason;
  }

  void take(compile::CompileResult& result) {
    const auto at = compiling_.find(result.ticket);
    if (at == compiling_.end()) return;
    if (result.binary)
      ready_.emplace_back(at->second, std::move(*result.binary));
    else
      tell(at->second, result.binary.error());
    compiling_.erase(at);
  }

  void drain() {
    for (auto& [id, binary] : ready_) verify(id, binary);
    ready_.clear();
  }

  void verify(std::int64_t id, const model::KernelBinary& binary) {
    if (!reference_) return tell(id, reference_.error());
    const auto plan = expr::resolve_variant(*prepared_->spec, prepared_->problem, prepared_->scope, variant(id));
    if (!plan) return tell(id, plan.error());
    if (auto loaded = worker_.load(id, *plan, binary); !loaded) return tell(id, loaded.error());
    const auto report = worker_.verify(id);
    worker_.unload(id);
    if (!report) return tell(id, report.error());
    CheckResult result = blank(id);
    result.margin = report->margin;
    if (!report->ok) {
      result.outcome = model::Outcome::kWrongResult;
      result.reason = report->reason;
    }
    each_(result);
    if (scope_ == CheckScope::kMixUps && report->ok) mix_up(id, *plan, binary);
  }

  void mix_up(std::int64_t id, const model::VariantPlan& plan, const model::KernelBinary& binary) {
    for (const auto& [one, other] : operand_pairs(prepared_->plan, plan.launches)) {
      if (interrupted()) return;
      model::VariantPlan swapped = plan;
      for (model::LaunchPlan& launch : swapped.launches)
        for (model::ArgPlan& arg : launch.args)
          if (arg.tensor == one || arg.tensor == other) arg.tensor = arg.tensor == one ? other : one;
      CheckResult result = blank(id);
      result.mix_up = one + " and " + other + " swapped";
      if (worker_.load(id, swapped, binary)) {
        const auto report = worker_.verify(id);
        worker_.unload(id);
        if (report && report->ok) {
          result.outcome = model::Outcome::kWrongResult;
          result.reason = "called right with " + result.mix_up + " in its launches";
        }
      }
      each_(result);
    }
  }

  CheckResult blank(std::int64_t id) const {
    CheckResult result;
    result.prepared = prepared_;
    result.variant = variant(id);
    result.is_default = id == prepared_->default_id;
    return result;
  }

  void tell(std::int64_t id, const model::Failure& failure) {
    CheckResult result = blank(id);
    result.outcome = failure.outcome;
    result.reason = failure.reason;
    result.detail = failure.detail;
    each_(result);
  }

  SharedProblem prepared_;
  const model::DeviceFacts& facts_;
  const Options& options_;
  CheckScope scope_;
  compile::CompilePool& pool_;
  trial::Worker& worker_;
  const std::function<void(const CheckResult&)>& each_;
  std::map<std::int64_t, std::int64_t> compiling_;
  std::vector<std::pair<std::int64_t, model::KernelBinary>> ready_;
  bool reference_known_ = false;
  model::Status reference_;
};

}  // namespace

std::vector<std::int64_t> variants_to_check(const PreparedProblem& prepared, CheckScope scope) {
  std::vector<std::int64_t> ids{prepared.default_id};
  if (scope == CheckScope::kAll) {
    for (std::int64_t id = 0; id < prepared.space.size(); ++id)
      if (id != prepared.default_id) ids.push_back(id);
  } else if (scope == CheckScope::kSome) {
    std::set<std::pair<std::string, std::string>> seen;
    const auto note = [&](const model::Variant& variant) {
      bool any = false;
      for (const auto& [name, value] : variant.values)
        if (!value.name.empty() && seen.emplace(name, value.name).second) any = true;
      return any;
    };
    note(prepared.default_variant);
    for (std::int64_t id = 0; id < prepared.space.size(); ++id)
      if (note(prepared.space.variant(id))) ids.push_back(id);
  }
  return ids;
}

std::int64_t count_checks(const PreparedProblem& prepared, CheckScope scope) {
  auto count = static_cast<std::int64_t>(variants_to_check(prepared, scope).size());
  if (scope != CheckScope::kMixUps) return count;
  const model::VariantPlan plan =
      expr::require_variant(*prepared.spec, prepared.problem, prepared.scope, prepared.default_variant);
  return count + static_cast<std::int64_t>(operand_pairs(prepared.plan, plan.launches).size());
}

std::vector<std::pair<std::string, std::string>> operand_pairs(const model::ProblemPlan& problem,
                                                               const std::vector<model::LaunchPlan>& launches) {
  const auto is_passed = [&](const model::TensorPlan& tensor) {
    for (const model::LaunchPlan& launch : launches)
      for (const model::ArgPlan& arg : launch.args)
        if (arg.kind == model::ArgPlan::Kind::kTensor && arg.tensor == tensor.name) return true;
    return false;
  };
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    for (std::size_t j = i + 1; j < problem.tensors.size(); ++j) {
      const model::TensorPlan& one = problem.tensors[i];
      const model::TensorPlan& other = problem.tensors[j];
      if (one.dtype == other.dtype && is_passed(one) && is_passed(other)) pairs.emplace_back(one.name, other.name);
    }
  }
  return pairs;
}

void check(const std::vector<SharedProblem>& problems, const model::DeviceFacts& facts, const Options& options,
           CheckScope scope, const std::function<void(const CheckResult&)>& each) {
  compile::CompilePool pool(compile::binaries_dir(), options.jobs);
  trial::Worker worker(options.device, options.trial_deadline_s);
  for (const SharedProblem& prepared : problems) {
    if (interrupted()) return;
    ProblemCheck(prepared, facts, options, scope, pool, worker, each).run();
  }
}

void compile_only(const std::vector<SharedProblem>& problems, const model::DeviceFacts& facts, const Options& options,
                  const std::function<std::vector<std::int64_t>(const PreparedProblem&)>& pick,
                  const std::function<void(const CompileCheck&)>& each) {
  compile::CompilePool pool(compile::binaries_dir(), options.jobs);
  std::map<std::int64_t, std::pair<SharedProblem, std::int64_t>> tickets;
  for (const SharedProblem& prepared : problems)
    for (const std::int64_t id : pick(*prepared)) {
      const model::Variant variant = prepared->space.variant(id);
      tickets[pool.submit(trial::variant_job(*prepared->spec, prepared->problem, variant, facts,
                                             options.compile_deadline_s))] = {prepared, id};
    }
  while (!tickets.empty() && !interrupted()) {
    auto result = pool.wait(1.0);
    if (!result) continue;
    const auto at = tickets.find(result->ticket);
    if (at == tickets.end()) continue;
    const auto& [prepared, id] = at->second;
    each(CompileCheck{prepared, prepared->space.variant(id), id == prepared->default_id, std::move(result->binary)});
    tickets.erase(at);
  }
}

}  // namespace ktune::sweep
