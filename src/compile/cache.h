#pragma once

#include <optional>
#include <string>

#include "compile/compiled.h"
#include "model/outcome.h"

// Compiled kernels on disk: DIR/ab/abcdef….cubin beside a .json with what the compiler said and the hash of the
// binary's bytes. Both are written by rename, the .json last, so processes share a folder without locks: a reader sees
// a whole entry or none, and an entry whose bytes do not match its hash is none.

namespace ktune::compile {

/// The entry of a key, marked cached; nothing if it is missing or damaged.
std::optional<model::KernelBinary> find_cached(const std::string& cache_dir, const std::string& key,
                                               const std::string& target);

/// Writes an entry and returns it (not marked cached). Throws Error(kEnvironment) when the folder cannot be written.
model::KernelBinary store_cached(const std::string& cache_dir, const std::string& key, const std::string& target,
                                 const Compiled& compiled, double compile_ms);

}  // namespace ktune::compile
