#pragma once

#include <map>
#include <string>

#include "compile/compile.h"
#include "model/outcome.h"

namespace ktune::compile {

/// What a compiler made of a job, before it is in the cache.
struct Compiled {
  std::string code;  ///< bytes of the cubin or the shared object
  std::map<std::string, model::KernelResources> resources;
  std::string log;
};

}  // namespace ktune::compile
