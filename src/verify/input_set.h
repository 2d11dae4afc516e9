#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "verify/guarded.h"

// One complete copy of an op's tensors with values of its own, and what the reference makes of them. Results that were
// remembered from another set are wrong in this one.

namespace ktune::verify {

/// What a run damaged outside its outputs.
struct Damage {
  std::vector<std::string> reasons;  ///< "changed its input x", "wrote outside y: byte 0 past its end"
  bool lasting = false;              ///< something could not be put back: this process must not go on
};

/// Poisons scratch with the run's pattern, or zeroes what its plan asks to be zero.
model::Status prepare_scratch(device::Device& device, BufferSet& scratch, std::uint64_t seed, const Patterns& patterns);

class InputSet {
 public:
  /// Allocates the tensors, `shift` bytes further on in their blocks, fills the inputs, each from a stream of its own
  /// (the seed and its name), and runs the reference, into buffers of its own: no variant's output ever stands in a
  /// buffer that another one is compared with. Fails with what the reference did wrong when it fails, writes outside
  /// its buffers, changes an input or leaves an output element unwritten. The reference module must stay loaded.
  static model::Result<InputSet> make(device::Device& device, const model::ProblemPlan& plan,
                                      device::ModuleId reference, std::uint64_t seed, std::int64_t shift);

  const BufferSet& tensors() const { return tensors_; }
  /// The reference's outputs (out and inout).
  const BufferSet& reference() const { return reference_; }

  /// Gives it other values at the same addresses, and runs the reference on them.
  model::Status reseed(const model::ProblemPlan& plan, device::ModuleId reference, std::uint64_t seed);

  /// Takes another set's values, at its own addresses; its reference's results stay its own until they are its values
  /// again (refill).
  model::Status take_values(const InputSet& other);
  model::Status refill() { return fill_inputs(); }

  /// Makes it as it was before any run: outputs poisoned, guard bands armed, what is updated in place as it was first.
  model::Status restore(const Patterns& patterns);
  /// The same for its operands, as the device does it before a timed launch.
  std::vector<device::Renewal> renewals() const;
  /// What its outputs are compared with, as the last restore left them.
  std::vector<device::OutputCheck> checks() const;
  /// What would pass for an output without having computed it: "zeros would pass as y (0.28 times the tolerance)";
  /// empty when nothing tried does. Leaves the outputs in need of a restore.
  model::Result<std::string> weakness();
  /// Looks at its guard bands and inputs, and at what must never change; puts back what was damaged.
  model::Status inspect(Damage& damage);

 private:
  InputSet(device::Device& device, std::uint64_t seed) : device_(&device), seed_(seed) {}

  /// An output that nobody computed.
  struct Candidate {
    std::string what;
    std::function<model::Status()> make;
  };
  std::vector<Candidate> trivial_outputs(const device::OutputCheck& check);

  model::Status allocate(const model::ProblemPlan& plan, std::int64_t shift);
  /// Fills the inputs and the untouched copies.
  model::Status fill_inputs();
  model::Status fill(const BufferSet::Entry& entry);
  model::Status run_reference(const model::ProblemPlan& plan, device::ModuleId reference);
  model::Status launch_reference(const model::ProblemPlan& plan, device::ModuleId reference, const BufferSet& outputs,
                                 const Patterns& patterns);
  /// Whether the reference wrote all of an output.
  model::Status look_at_reference(const BufferSet::Entry& entry);
  model::Status keep(const BufferSet::Entry& entry, const device::CompareResult& reference);
  model::Status inspect_inputs(Damage& damage);
  model::Status inspect_kept(Damage& damage);

  device::Device* device_;
  std::uint64_t seed_;
  Patterns patterns_ = kPatterns[0];  ///< of the last restore
  BufferSet tensors_;
  BufferSet pristine_;  ///< the untouched copies of what kernels update in place
  BufferSet reference_;
  std::map<std::string, model::Tolerance> tolerances_;   ///< of the outputs, scaled to what the reference gave
  std::map<std::string, double> sizes_;                  ///< of the reference's outputs: mean |value|
  std::map<std::string, std::uint64_t> checksums_;       ///< of the inputs
  std::map<std::string, std::uint64_t> kept_checksums_;  ///< of pristine and reference buffers, by label
};

/// Looks at the guard bands of buffers, and arms those that were hit.
model::Status inspect_guards(device::Device& device, const BufferSet& buffers, Damage& damage);

}  // namespace ktune::verify
