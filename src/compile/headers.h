#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Which headers a kernel source needs. The compilers of kernels read nothing from disk but what is listed here, and the
// cache key covers every byte of it, so a stale binary cannot be taken for a fresh one.

namespace ktune::compile {

struct KernelHeader {
  std::string name;  ///< as the #include spells it
  std::filesystem::path path;
  std::shared_ptr<const std::string> text;
  std::string hash;  ///< XXH3-128 of the text
};

/// Every header that the source may include, directly or through another header, whatever its #if's say; in the order
/// of first mention. Looked for beside the including file, then in `include_dirs`, then in `last_dir` (CUDA's own). A
/// name found nowhere is left out: the compiler has it built in, skips it, or says that it is missing. Files are read
/// again only when their size or time changed. Throws Error(kUsage) when one name means two different files.
std::vector<KernelHeader> collect_headers(std::string_view source, const std::filesystem::path& source_dir,
                                          std::span<const std::string> include_dirs,
                                          const std::filesystem::path& last_dir);

}  // namespace ktune::compile
