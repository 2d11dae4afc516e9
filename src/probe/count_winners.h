#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sweep/sweep.h"

namespace ktune::probe {

/// `ktune sweep --counters`: counts what the winner and the default of each of the session's problems move, and adds it
/// to their trials in the database. Where counters cannot be had, the trials say why and the rest of the problems are
/// not tried.
void count_winners(const std::vector<sweep::SharedProblem>& problems, const model::DeviceFacts& facts,
                   const std::string& database, std::int64_t session, const sweep::Options& options,
                   const std::function<void(const std::string&)>& say);

}  // namespace ktune::probe
