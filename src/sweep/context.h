#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "compile/compile.h"
#include "model/facts.h"
#include "sweep/budget.h"
#include "sweep/ledger.h"
#include "sweep/sweep.h"
#include "trial/bench.h"

namespace ktune::sweep {

/// What all problems of a session share.
struct Context {
  const model::DeviceFacts& facts;
  const Options& options;
  const Observer& observer;
  Ledger& ledger;
  compile::Compiler& compiler;
  trial::Bench& bench;
  Budget& budget;
  std::function<std::string(const compile::CompileJob&)> compile_key;  ///< compile::cache_key
  std::function<bool()> interrupted;                                   ///< ktune::interrupted
  std::int64_t session = 0;

  void say(const std::string& text) const {
    if (observer.message) observer.message(text);
  }
};

}  // namespace ktune::sweep
