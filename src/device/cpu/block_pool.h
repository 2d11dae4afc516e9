#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "device/cpu/block_runner.h"
#include "device/cpu/kernel_object.h"

namespace ktune::device::cpu {

/// OS threads that take the blocks of a launch, one gang after another, each with its own shared memory.
///
/// Shared memory holds 0xff bytes when a block starts (NaN to every floating type): a kernel that reads what it has
/// not written is found out. Dynamic shared memory has exactly the launch's size: under AddressSanitizer an access
/// beyond it is reported where it happens, otherwise a write beyond it is when the block ends.
class BlockPool {
 public:
  /// `sanitized`: kernels are, so nothing of ours may lie behind dynamic shared memory.
  BlockPool(int os_threads, int max_block_threads, std::size_t stack_bytes, bool sanitized);
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// Runs a grid to its end. The text of the first fault, if there was one: then not all blocks have run.
  std::optional<std::string> run(const KernelCall& call, const KernelObject& object, std::size_t smem_bytes);
  int os_threads() const { return static_cast<int>(threads_.size()); }

 private:
  struct Grid;

  void serve();

  int max_block_threads_;
  std::size_t stack_bytes_;
  bool sanitized_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  Grid* grid_ = nullptr;  ///< what is being run
  std::uint64_t round_ = 0;
  int busy_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ktune::device::cpu
