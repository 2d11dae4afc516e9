#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "store/store.h"
#include "sweep/sweep.h"

namespace ktune::probe {

/// `ktune sweep --counters`: counts what the winner and the default of each of the session's problems move, and adds it
/// to their trials. Where counters cannot be had, the trials say why and the rest of the problems are not tried.
void count_winners(const std::vector<sweep::SharedProblem>& problems, const model::DeviceFacts& facts,
                   store::Store& store, std::int64_t session, const sweep::Options& options,
                   const std::function<void(const std::string&)>& say);

}  // namespace ktune::probe
