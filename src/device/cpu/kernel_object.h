#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "device/cpu/simt_abi.h"
#include "model/outcome.h"

namespace ktune::device::cpu {

/// A kernel's shared object in this process. Objects of several variants live side by side: nothing of theirs is
/// visible to the loader but their table of entries.
class KernelObject {
 public:
  /// kLaunchFailed when the file cannot be loaded or is of another ABI version.
  static model::Result<KernelObject> load(const std::string& path);
  ~KernelObject();
  KernelObject(KernelObject&& other) noexcept;
  KernelObject& operator=(KernelObject&& other) noexcept;

  /// Null when there is no such kernel.
  const ktune_cpu::Entry* find(const std::string& kernel) const;
  std::vector<std::string> kernels() const;

  /// Static shared memory of all its kernels together, bytes: the object's thread-local segment. 0 in a sanitized
  /// object, whose shared arrays are plain statics.
  std::size_t static_shared_bytes() const { return tls_bytes_; }
  /// The calling OS thread's static shared memory; null when there is none.
  std::byte* static_shared() const;

 private:
  KernelObject() = default;

  void* handle_ = nullptr;
  const ktune_cpu::Entry* entries_ = nullptr;
  std::size_t tls_bytes_ = 0;
  std::size_t tls_module_ = 0;
};

}  // namespace ktune::device::cpu
