#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "compile/compile.h"
#include "model/facts.h"
#include "model/op_spec.h"
#include "model/plan.h"
#include "model/timing.h"

namespace ktune::trial {

/// The compile of a variant: its macros and the entries its launches name (those whose `when` holds). Throws
/// Error(kUsage) for an expression that cannot be evaluated.
compile::CompileJob variant_job(const model::OpSpec& spec, const model::Problem& problem, const model::Variant& variant,
                                const model::DeviceFacts& facts, double deadline_s);

/// The compile of the reference: KTUNE_REFERENCE is 1, so that a source may leave its tuned kernels out, and the
/// parameters are the default variant's.
compile::CompileJob reference_job(const model::OpSpec& spec, const model::Problem& problem,
                                  const model::Variant& default_variant, const model::DeviceFacts& facts,
                                  double deadline_s);

/// Everything the result of a trial depends on.
struct FingerprintInputs {
  const model::Variant& variant;
  const model::ProblemPlan& problem;
  const model::VariantPlan& plan;
  const model::DeviceFacts& device;
  std::string compile_key;    ///< compile::cache_key of variant_job: source, headers, macros, options, compiler
  std::string reference_key;  ///< of reference_job
  std::string timer;          ///< as asked for: "auto" or a Timer's name
  model::CacheState cache_state = model::CacheState::kCold;
};

/// By name, so that a miss can be explained: the text itself where it is short, a hash where it is not. A spec takes
/// part by what it resolves to for this problem and variant: adding a value to a parameter changes no other trial.
std::map<std::string, std::string> fingerprint_parts(const FingerprintInputs& inputs);

/// One hash over the parts.
std::string fingerprint(const std::map<std::string, std::string>& parts);

}  // namespace ktune::trial
