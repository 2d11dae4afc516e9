#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "verify/input_set.h"

// Everything a problem holds on the device: its input sets. Variants are verified on set 0; timing rotates through
// several, at other addresses and with other values.

namespace ktune::verify {

class ProblemMemory {
 public:
  /// Makes set 0. Fails with kRejected when the device has too little memory (with both figures), and as
  /// InputSet::make does. The reference module must stay loaded as long as this lives.
  static model::Result<std::unique_ptr<ProblemMemory>> create(device::Device& device, model::ProblemPlan plan,
                                                              device::ModuleId reference);

  const model::ProblemPlan& plan() const { return plan_; }
  device::Device& device() const { return device_; }

  /// Bytes of one set's tensors, guard bands aside.
  std::int64_t set_bytes() const;
  int sets() const { return static_cast<int>(sets_.size()); }
  /// Makes sets until there are `count` or memory runs short; never fewer than there are.
  model::Status grow(int count);
  /// Gives a set values that it has not had, at the same addresses.
  model::Status reseed(int index);
  InputSet& set(int index) { return sets_[static_cast<std::size_t>(index)]; }
  const InputSet& set(int index) const { return sets_[static_cast<std::size_t>(index)]; }
  bool updates_in_place() const;

  /// Copies the outputs that stand in set 0.
  model::Status keep_outputs();
  /// Elements of set 0's outputs that hold other values than the copy: "y: 12 of 4096"; empty where all are the same.
  /// `patterns` are those of the run that was kept.
  model::Result<std::string> difference_from_kept(const Patterns& patterns);

 private:
  ProblemMemory(device::Device& device, model::ProblemPlan plan, device::ModuleId reference)
      : device_(device), plan_(std::move(plan)), reference_(reference) {}

  /// Bytes of a set with the reference's outputs and the untouched copies, and of the reference's scratch.
  std::int64_t whole_set_bytes() const;
  model::Status check_budget() const;
  /// kWrongResult where outputs that nobody computed would pass.
  model::Status check_strength();
  model::Status add_set();
  std::vector<model::TensorPlan> outputs() const;

  device::Device& device_;
  model::ProblemPlan plan_;
  device::ModuleId reference_;
  std::vector<InputSet> sets_;
  std::uint64_t reseeded_ = 0;  ///< how often
  BufferSet kept_;              ///< a copy of set 0's outputs
};

}  // namespace ktune::verify
