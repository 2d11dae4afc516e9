#pragma once

#include <filesystem>
#include <vector>

// Where NVIDIA's toolkit may lie. In order: $CUDA_HOME, the toolkit ktune was built against, the usual one, ktune's own
// folder.

namespace ktune::device {

/// Folders searched for NVIDIA's libraries. The loader's path comes after them.
std::vector<std::filesystem::path> cuda_library_dirs();
/// Folders searched for CUDA's headers.
std::vector<std::filesystem::path> cuda_include_dirs();

}  // namespace ktune::device
