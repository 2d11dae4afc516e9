#pragma once

#include <functional>
#include <map>
#include <string>

#include "compile/compile.h"
#include "model/plan.h"
#include "search/search.h"
#include "sweep/sweep.h"

namespace ktune::sweep {

/// How the variants of one problem are made: what to compile, what to launch, and what a trial of one depends on.
class Recipes {
 public:
  /// `key` is compile::cache_key. What it is given must outlive it.
  Recipes(const PreparedProblem& prepared, const model::DeviceFacts& facts, const Options& options,
          std::function<std::string(const compile::CompileJob&)> key);

  const PreparedProblem& prepared() const { return prepared_; }
  const model::DeviceFacts& facts() const { return facts_; }
  model::Variant variant(search::VariantId id) const { return prepared_.space.variant(id); }
  model::Result<model::VariantPlan> plan(search::VariantId id) const;
  compile::CompileJob job(search::VariantId id) const;
  compile::CompileJob reference_job() const;
  /// Names the source of the problem's records.
  std::string reference_key() const { return key_(reference_job()); }
  /// What a trial of the variant depends on, by name. `timer` as it is asked for.
  std::map<std::string, std::string> parts(search::VariantId id, const model::TimerRequest& timer) const;

 private:
  const PreparedProblem& prepared_;
  const model::DeviceFacts& facts_;
  const Options& options_;
  std::function<std::string(const compile::CompileJob&)> key_;
};

}  // namespace ktune::sweep
