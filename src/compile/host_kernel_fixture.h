#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "compile/host_compiler.h"
#include "device/cpu/cpu_device.h"

// For tests: a kernel's text, compiled for the host and run on the CPU device.

namespace ktune::compile {

struct Shape {
  std::int64_t grid = 1;
  std::int64_t block = 32;
  std::int64_t smem = 0;
};

class HostKernelTest : public testing::Test {
 protected:
  HostKernelTest() {
    // Kept from test to test and run to run, and not the user's: the precompiled header takes a second.
    setenv("KTUNE_CACHE_DIR", (std::filesystem::path(testing::TempDir()) / "ktune_host_kernel_cache").c_str(), 0);
    dir_ = std::filesystem::temp_directory_path() / ("ktune-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(dir_);
  }
  ~HostKernelTest() override { std::filesystem::remove_all(dir_); }

  CompileJob job_of(const std::string& text, const std::vector<std::string>& kernels,
                    const model::Macros& macros = {}) {
    CompileJob job;
    job.source_path = (dir_ / "test.cu").string();
    write_file(job.source_path, text);
    job.macros = macros;
    job.target = device_->facts().target;
    job.kernels = kernels;
    return job;
  }

  model::Result<model::KernelBinary> compile(const CompileJob& job) {
    return compile_for_host(job, (dir_ / ("out" + std::to_string(count_++))).string());
  }

  /// Compiles and loads; fails the test when either does not work.
  device::ModuleId load(const std::string& text, const std::vector<std::string>& kernels,
                        const model::Macros& macros = {}) {
    const auto binary = compile(job_of(text, kernels, macros));
    if (!binary) {
      ADD_FAILURE() << binary.error().reason << "\n" << binary.error().detail;
      return -1;
    }
    const auto module = device_->load(*binary);
    if (!module) {
      ADD_FAILURE() << module.error().reason << "\n" << module.error().detail;
      return -1;
    }
    return *module;
  }

  template <class T>
  static std::vector<std::byte> bytes_of(T value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  }
  template <class T>
  static std::vector<std::byte> pointer_to(std::vector<T>& values) {
    return bytes_of(values.data());
  }

  model::Status run(device::ModuleId module, const std::string& kernel, const std::vector<std::vector<std::byte>>& args,
                    const Shape& shape = {}) {
    device::PreparedLaunch launch;
    launch.module = module;
    launch.kernel = kernel;
    launch.args = args;
    launch.plan.kernel = kernel;
    launch.plan.grid = {shape.grid, 1, 1};
    launch.plan.block = {shape.block, 1, 1};
    launch.plan.smem_bytes = shape.smem;
    return device_->launch({launch});
  }

  /// The fault of a kernel that takes one array of floats; "" when it ran through.
  std::string fault_of(const std::string& text, std::int64_t threads, std::size_t floats = 4096) {
    const device::ModuleId module = load(text, {"k"});
    std::vector<float> data(floats, 1.0f);
    const model::Status status = run(module, "k", {pointer_to(data)}, {1, threads, 0});
    device_->unload(module);
    return status ? "" : status.error().reason;
  }

  std::filesystem::path dir_;
  std::unique_ptr<device::Device> device_ = device::open_cpu_device(false);
  int count_ = 0;
};

}  // namespace ktune::compile
