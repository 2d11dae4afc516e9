#pragma once

#include <filesystem>
#include <string>

#include "model/op_spec.h"
#include "model/record.h"

namespace ktune::sweep {

/// The files an op is made of: its spec, its source and every header of its own (not CUDA's). Throws Error(kUsage) when
/// one cannot be read.
model::SourceBundle bundle_of(const model::OpSpec& spec);

/// Writes a bundle below a folder and returns the path of its spec there. Throws Error(kEnvironment), or Error(kUsage)
/// for a path that leads out of the folder.
std::filesystem::path unpack(const model::SourceBundle& bundle, const std::filesystem::path& folder);

}  // namespace ktune::sweep
