#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gate/reference.h"
#include "model/comparison.h"
#include "sweep/sweep.h"
#include "sweep/variant_choice.h"

namespace ktune::gate {

/// One side of a kernel, ready to be compiled; empty where that side has no such kernel.
struct GateVersion {
  sweep::SharedProblem prepared;
  model::Variant variant;
  std::optional<model::Failure> failure;  ///< its spec cannot be read, or says nothing sensible of this problem
};

/// A kernel of the gate: both sides and what is said of it in the end.
struct GateKernel {
  GateVersion base, candidate;
  model::Comparison comparison;
};

struct GateKernels {
  std::vector<GateKernel> kernels;
  std::vector<std::string> notes;                             ///< for a human
  std::vector<std::shared_ptr<const TemporaryFolder>> trees;  ///< where the sources lie
};

/// Which problems and variants of an op a tree or spec file stands for.
struct KernelChoice {
  sweep::VariantChoice variant;
  std::string database;       ///< its winners, where the variant is one
  std::string use = "bench";  ///< the spec's problems that stand in when no shape is given
};

/// Pairs up the kernels of both sides by op and problem. Without --shape a spec's `bench` problems are taken, or its
/// `sweep` ones where it has none; on the CPU device its `cpu` ones. A kernel that one side lacks is in the list with
/// that side missing.
GateKernels gate_kernels(const sweep::Selection& selection, const GateSide& base, const GateSide& candidate,
                         const KernelChoice& choice, const model::DeviceFacts& facts);

/// The note that the ops' references changed: values are held against each side's own.
std::string changed_references_note(const std::set<std::string>& ops);

}  // namespace ktune::gate
