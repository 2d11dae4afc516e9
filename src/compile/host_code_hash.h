#pragma once

#include <string>
#include <string_view>

namespace ktune::compile {

/// Hash of what a shared object brings into memory: code, constants, initial data, names, relocations. Not its notes
/// (the build id is a hash of the whole file) and not what is only for a debugger. "" where the bytes are no such file.
std::string host_code_hash(std::string_view object);

}  // namespace ktune::compile
