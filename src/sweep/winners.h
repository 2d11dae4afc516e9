#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/record.h"

namespace ktune::sweep {

/// The newest winner of each problem that the database names for a device, of one session where `session` is above 0;
/// none where there is no database yet.
std::vector<model::ProblemRecord> stored_winners(const std::string& database, const std::string& device,
                                                 std::int64_t session = 0);

/// The record of this problem (Problem::text()); null: none.
const model::ProblemRecord* find_winner(std::span<const model::ProblemRecord> winners, const std::string& op,
                                        const std::string& problem);

/// Error(kNoData): no session (or not this one, where `session` is above 0) named a winner on the device.
Error no_winner_named(const std::string& database, const std::string& device, std::int64_t session);

}  // namespace ktune::sweep
