#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/controlled_kernels.h"
#include "cli/selection.h"
#include "gate/baseline.h"
#include "sweep/sweep.h"

// A baseline's kernels and controls in the tree as it is now, and back.

namespace ktune::cli {

/// The tree's ops, loaded once each, and what was prepared of them.
class TreeKernels {
 public:
  /// `folder`: the baseline's, which specs of one's own are named from. `configs`: the command line's --config: where
  /// an op of that name is now.
  TreeKernels(std::filesystem::path folder, const std::vector<std::string>& configs, model::DeviceFacts facts);

  /// What the tree has of one of the baseline's kernels; `missing` says what it no longer has. Throws Error(kUsage) for
  /// a spec that cannot be read.
  ControlledItem find(const gate::BaselineKernel& kernel);
  /// The request for a variant of a problem; "" is the default. Throws Error(kUsage) for what the op does not have.
  sweep::KernelRequest request(const model::OpSpec& spec, const model::Problem& problem, const std::string& variant);
  /// The copy of as many bytes: f32, whole tiles, 2 MiB at the least (below that a launch costs more than the copy).
  sweep::KernelRequest control_of(const sweep::PreparedProblem& kernel);

  /// The commit that the kernels are of: of the git tree of the last op of one's own, else of ktune's; "-dirty"
  /// appended when it has changes, "" outside git.
  std::string commit() const;
  /// What the baseline calls the op's spec: "" for a shipped one, else its path from the baseline's folder.
  std::string spec_name(const model::OpSpec& spec) const;

 private:
  /// Nothing where there is none.
  const model::OpSpec* spec_of(const std::string& op, const std::string& name);
  const sweep::Work& work_of(const model::OpSpec& spec);

  std::filesystem::path folder_;
  std::filesystem::path own_folder_;  ///< of the last op of one's own
  model::DeviceFacts facts_;
  std::map<std::string, model::OpSpec> configs_;                             ///< by op
  std::map<std::string, model::OpSpec> specs_;                               ///< by op and name
  std::map<std::string, std::unique_ptr<sweep::Work>> work_;                 ///< by the spec's path
  std::map<std::string, std::unique_ptr<sweep::PreparedProblem>> prepared_;  ///< by the spec's path and problem
};

/// Of the baseline's kernels those that the command line names; nothing named: all. Throws Error(kNoData) where none
/// is left.
std::vector<gate::BaselineKernel> select_kernels(const gate::Baseline& baseline, const Selection& selection);

/// The kernel's file as annotations name it: from the folder of ktune's own kernels where it is below that, else from
/// the current one, which in CI is the repository's.
std::string display_source(const std::string& path);

}  // namespace ktune::cli
