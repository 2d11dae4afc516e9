#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "compile/compile.h"

// For tests: a folder with an op in it, removed at the end.

namespace ktune::compile {

class ScratchOp {
 public:
  ScratchOp() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ktune-compile-XXXXXX").string();
    dir_ = mkdtemp(pattern.data());
    write("op.cu",
          "#include "
          "<cuda_fp16.h>\n#include \"scale.cuh\"\n"
          "extern \"C\" __global__ void scale(__half* x) {\n"
          "  __shared__ float s[64];\n  s[threadIdx.x % 64] = __half2float(x[threadIdx.x]);\n  __syncthreads();\n"
          "  x[threadIdx.x] = __float2half(FACTOR * factor() * s[63 - threadIdx.x % 64]);\n}\n");
    write("inc/scale.cuh", "#pragma once\n__device__ inline float factor() { return 2.0f; }\n");
  }
  ~ScratchOp() { std::filesystem::remove_all(dir_); }
  ScratchOp(const ScratchOp&) = delete;
  ScratchOp& operator=(const ScratchOp&) = delete;

  /// Writes a file below the folder and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((dir_ / name).parent_path());
    std::ofstream(dir_ / name) << text;
    return (dir_ / name).string();
  }

  std::string path(const std::string& name) const { return (dir_ / name).string(); }

  /// A job for op.cu, which has one kernel `scale` and includes inc/scale.cuh.
  CompileJob job(const std::string& target = "sm_90") const {
    CompileJob job;
    job.source_path = path("op.cu");
    job.macros = {{"FACTOR", "3"}};
    job.include_dirs = {path("inc")};
    job.target = target;
    job.kernels = {"scale"};
    return job;
  }

 private:
  std::filesystem::path dir_;
};

}  // namespace ktune::compile
