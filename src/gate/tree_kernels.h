#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gate/controlled_kernels.h"
#include "sweep/selection.h"
#include "sweep/sweep.h"
#include "verdict/baseline.h"

// A baseline's kernels and controls in the tree as it is now, and back.

namespace ktune::gate {

/// The tree's ops, loaded once each, and what was prepared of them.
class TreeKernels {
 public:
  /// `folder`: the baseline's. `configs`: the command line's --config: where
  /// an op of that name is now. `own_commit`: of the running ktune, which an installed op comes from.
  TreeKernels(std::filesystem::path folder, const std::vector<std::string>& configs, model::DeviceFacts facts,
              std::string own_commit);

  /// What the tree has of one of the baseline's kernels; `missing` says what it no longer has,
  /// `failure` that its spec is broken. Throws Error(kUsage) for a spec of another tree than the one that the current
  /// directory is in: a gate judges the working tree.
  ControlledItem find(const verdict::BaselineKernel& kernel);
  /// A problem of the op, prepared once. Throws Error(kUsage) for what the op does not have.
  sweep::SharedProblem prepare(const model::OpSpec& spec, const model::Problem& problem);
  /// The copy of as many bytes: f32, whole tiles, 2 MiB at the least (below that a launch costs more than the copy). Of
  /// `winners` (a sweep's) the copy's nearest in size names the variant, where this size has it; else it is the
  /// default.
  sweep::KernelRequest control_of(const sweep::PreparedProblem& kernel, std::span<const model::ProblemRecord> winners);

  /// The commit of the tree that the op's files are in, "-dirty" appended when it has changes. Ktune's own where an
  /// installed ktune's op is in no repository or in one that does not track it; "" for others outside git.
  std::string commit_of(const model::OpSpec& spec);
  /// What the baseline calls the op's spec. Throws Error(kUsage) as find() does.
  std::pair<verdict::SpecRoot, std::string> spec_name(const model::OpSpec& spec) const;

 private:
  /// The variant of NAME=V,…; throws as sweep::named_variant does.
  sweep::KernelRequest request(const model::OpSpec& spec, const model::Problem& problem, const std::string& variant);
  /// Where a kernel's spec is now; nothing where there is none.
  std::optional<std::filesystem::path> path_of(const verdict::BaselineKernel& kernel) const;
  /// Nothing where there is none of that op.
  const model::OpSpec* spec_of(const verdict::BaselineKernel& kernel, std::optional<model::Failure>& broken);
  const model::OpSpec* shipped_of(const std::string& op);
  void check_here(const std::string& op, const std::filesystem::path& path) const;
  const sweep::Work& work_of(const model::OpSpec& spec);

  std::filesystem::path folder_;
  model::DeviceFacts facts_;
  std::string own_commit_;
  std::map<std::string, model::OpSpec> configs_;          ///< by op
  std::map<std::string, model::OpSpec> specs_;            ///< by path
  std::map<std::string, std::string> commits_;            ///< by the spec's path
  std::map<std::string, sweep::Work> work_;               ///< by the spec's path
  std::map<std::string, sweep::SharedProblem> prepared_;  ///< by the spec's path and problem
};

/// Of the baseline's kernels those that the command line names; nothing named: all. Throws Error(kNoData) where none
/// is left.
std::vector<verdict::BaselineKernel> select_kernels(const verdict::Baseline& baseline,
                                                    const sweep::Selection& selection);

/// The kernel's file as annotations name it: from the folder of ktune's own kernels where it is below that, else from
/// the top of its repository, else from the current folder.
std::string display_source(const std::string& path);

}  // namespace ktune::gate
