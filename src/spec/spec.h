#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/op_spec.h"

namespace ktune::spec {

/// Reads one op's TOML. Throws Error(kUsage) with file, line, column and a caret for bad TOML, an unknown key ("did
/// you mean"), a missing or mistyped field, a name used twice, an expression that does not parse or names nothing, a
/// default for an unknown parameter.
model::OpSpec load_op(const std::string& path);

/// The specs shipped in configs/ops, sorted by name.
std::vector<std::string> shipped_ops();
/// Loads a shipped op by name; unknown: Error(kUsage) with "did you mean" and the list.
model::OpSpec load_shipped_op(const std::string& name);

/// What the command line says of problems.
struct ProblemRequest {
  std::vector<std::string> shapes;  ///< "4096x4096" or "M=4096,N=4096"
  std::vector<std::string> dtypes;  ///< "bf16" (the first type macro) or "scalar_t=bf16,weight_t=f32"
  std::vector<std::pair<std::string, std::string>> attrs;
  std::string use = "sweep";  ///< when no shapes are given: the spec's problems with this use
};

/// The problems a request stands for, complete (types resolved, attributes filled in). Shapes × dtypes; no dtypes:
/// the spec's own for its problems, the first of each type macro for shapes. Throws Error(kUsage) for a wrong count
/// of sizes, a size below 1, an unknown dim, dtype or attribute, a dtype the op does not offer.
std::vector<model::Problem> select_problems(const model::OpSpec& spec, const ProblemRequest& request);

/// Fills types and attributes a problem leaves open, checks names; throws Error(kUsage).
model::Problem complete_problem(const model::OpSpec& spec, model::Problem problem);

/// Narrows parameters: "BLOCK_SIZE=1024,2048". Throws Error(kUsage) for an unknown parameter ("did you mean") or a
/// value the spec does not list.
model::OpSpec narrow(model::OpSpec spec, const std::vector<std::string>& params);

/// The parts of "BLOCK_SIZE=1024,num_warps=4", in order. Throws Error(kUsage) for one without '=' and for a name that
/// is given twice.
std::vector<std::pair<std::string, std::string>> variant_assignments(const std::string& text);

/// "BLOCK_SIZE=1024,num_warps=4": every parameter once, or those left out from `fallback`. Throws Error(kUsage).
model::Variant parse_variant(const model::OpSpec& spec, const std::string& text, const model::Variant& fallback);

/// A plan file of configs/sweeps: [[run]] entries with op (name) or config (path), shapes, dtypes, params, attrs.
struct PlanEntry {
  model::OpSpec spec;
  std::vector<model::Problem> problems;
};
std::vector<PlanEntry> load_plan(const std::string& path);

/// What a datasheet says of a device's memory: a file of configs/devices.
struct DevicePeak {
  std::vector<std::string> names;  ///< as the driver spells them; * stands for any text
  double gbps = 0.0;
  std::string source;
};
/// The shipped ones. Throws Error(kUsage) as load_op does.
std::vector<DevicePeak> device_peaks();
std::vector<DevicePeak> device_peaks_in(const std::string& folder);
/// The first that has this name.
std::optional<DevicePeak> peak_of(const std::vector<DevicePeak>& peaks, const std::string& name);

}  // namespace ktune::spec
