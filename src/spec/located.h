#pragma once

#include "base/error.h"
#include "expr/excerpt.h"
#include "model/op_spec.h"

namespace ktune::spec {

/// Runs `call`; an Error that has no place gets that of `at`. Checks shared with the command line throw without one.
template <typename Call>
auto located(const model::Expression& at, Call call) {
  try {
    return call();
  } catch (const Error& error) {
    if (!error.where().empty()) throw;
    throw Error(error.kind(), error.message(), error.hint(),
                expr::excerpt(at.at, at.text, 0, static_cast<int>(at.text.size())));
  }
}

}  // namespace ktune::spec
