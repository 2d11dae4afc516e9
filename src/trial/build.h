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

/// Everything the result of a trial depends on, by name, so that a miss can be explained: the text itself where it is
/// short, a hash where it is not. `compile_key` is compile::cache_key of variant_job: source, headers, macros, options
/// and compiler; the reference's source is the same file. `timer` is as asked for. The spec takes part by what it
/// resolves to for this problem and variant, so that adding a value to a parameter changes no other trial. Throws
/// Error(kUsage) for an expression that cannot be evaluated.
std::map<std::string, std::string> fingerprint_parts(const model::OpSpec& spec, const model::Problem& problem,
                                                     const model::Variant& variant, const model::DeviceFacts& facts,
                                                     const std::string& compile_key, std::uint64_t seed,
                                                     const std::string& timer, model::CacheState cache_state);

/// One hash over the parts.
std::string fingerprint(const std::map<std::string, std::string>& parts);

}  // namespace ktune::trial
