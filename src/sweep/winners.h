#pragma once

#include <string>
#include <vector>

#include "model/record.h"

namespace ktune::sweep {

/// The newest winner of each problem that the database names for a device; none where there is no database yet.
std::vector<model::ProblemRecord> stored_winners(const std::string& database, const std::string& device);

/// The record of this problem (Problem::text()); null: none.
const model::ProblemRecord* find_winner(const std::vector<model::ProblemRecord>& winners, const std::string& op,
                                        const std::string& problem);

}  // namespace ktune::sweep
