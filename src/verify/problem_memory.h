#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "verify/guarded.h"

// Everything a problem holds on the device: input sets, output buffers, the untouched copy of what kernels update in
// place, and the reference's results.
//
// A set is one complete copy of the op's tensors. Variants are verified on set 0; timing rotates through several, at
// other addresses and with the same values. The reference runs once, into buffers of its own: no variant's output ever
// stands in a buffer that another one is compared with.

namespace ktune::verify {

class ProblemMemory {
 public:
  /// Allocates set 0 and the reference's buffers, fills the inputs and runs the reference. Fails with kRejected when
  /// the device has too little memory (with both figures), with what the reference did wrong when it fails, writes
  /// outside its buffers, changes an input or leaves an output element unwritten. The reference module must stay
  /// loaded as long as this lives.
  static model::Result<std::unique_ptr<ProblemMemory>> create(device::Device& device, model::ProblemPlan plan,
                                                              device::ModuleId reference);

  const model::ProblemPlan& plan() const { return plan_; }
  device::Device& device() const { return device_; }

  /// Bytes of one set, guard bands aside.
  std::int64_t set_bytes() const;
  int sets() const { return static_cast<int>(sets_.size()); }
  /// Makes sets until there are `count` or memory runs short; never fewer than there are.
  model::Status grow(int count);
  const BufferSet& set(int index) const { return sets_[static_cast<std::size_t>(index)].tensors; }
  /// The reference's outputs (out and inout).
  const BufferSet& reference() const { return reference_; }
  bool updates_in_place() const { return !pristine_.entries().empty(); }

  /// Poisons the outputs of a set and gives tensors that are updated in place their first values back.
  model::Status restore(int set);
  model::Status poison_outputs(int set);

  /// What a run damaged outside its outputs.
  struct Damage {
    std::vector<std::string> reasons;  ///< "changed its input x", "wrote outside y: byte 0 past its end"
    bool lasting = false;              ///< something could not be put back: this process must not go on
  };
  /// Looks at the guard bands and inputs of a set, at the reference's and the pristine buffers, and at `scratch`; puts
  /// back what was damaged.
  model::Result<Damage> inspect(int set, const BufferSet& scratch);

 private:
  struct Set {
    BufferSet tensors;
    std::map<std::string, std::uint64_t> checksums;  ///< of the inputs
  };

  ProblemMemory(device::Device& device, model::ProblemPlan plan) : device_(device), plan_(std::move(plan)) {}

  model::Status check_budget() const;
  model::Status add_set();
  model::Status fill(const BufferSet::Entry& entry);
  model::Status fill_pristine();
  model::Status run_reference(device::ModuleId reference);
  model::Status check_reference_complete(const BufferSet::Entry& entry);
  model::Status copy_pristine(const BufferSet& to);
  model::Status inspect_inputs(Set& set, Damage& damage);
  model::Status inspect_guards(const BufferSet& buffers, Damage& damage);
  model::Status inspect_kept(Damage& damage);

  device::Device& device_;
  model::ProblemPlan plan_;
  std::vector<Set> sets_;
  BufferSet pristine_;
  BufferSet reference_;
  std::map<std::string, std::uint64_t> kept_checksums_;  ///< of pristine and reference buffers, by label
};

/// Poisons scratch, or zeroes what its plan asks to be zero.
model::Status prepare_scratch(device::Device& device, const BufferSet& scratch, std::uint64_t seed);

}  // namespace ktune::verify
