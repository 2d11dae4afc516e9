#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ktune::compile {

/// The file to `-include` for simt.h: beside it, in ktune's cache, lies the header compiled ahead for exactly these
/// flags and this compiler (0.6 s once, then 300 ms less a variant). The key covers the bytes of every header in it.
/// Where none can be made, simt.h itself. Processes that come at the same time wait for the first.
std::filesystem::path precompiled_simt(const std::vector<std::string>& compiler, const std::vector<std::string>& flags,
                                       const std::string& key);

}  // namespace ktune::compile
