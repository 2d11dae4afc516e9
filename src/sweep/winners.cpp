#include "sweep/winners.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/store.h"

namespace ktune::sweep {

std::vector<model::ProblemRecord> stored_winners(const std::string& database, const std::string& device,
                                                 std::int64_t session) {
  try {
    return store::Store(database, store::Store::Mode::kRead).winner_records(device, session);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kNoData) throw;
    return {};
  }
}

const model::ProblemRecord* find_winner(std::span<const model::ProblemRecord> winners, const std::string& op,
                                        const std::string& problem) {
  const auto at = std::find_if(winners.begin(), winners.end(), [&](const model::ProblemRecord& record) {
    return record.op == op && record.problem.text() == problem;
  });
  return at == winners.end() ? nullptr : &*at;
}

Error no_winner_named(const std::string& database, const std::string& device, std::int64_t session) {
  return {ErrorKind::kNoData,
          fmt::format("no session{} of {} named a winner on {}", session > 0 ? fmt::format(" {}", session) : "",
                      database, device),
          "`ktune db list` lists the sessions there are; `ktune sweep` makes winners"};
}

}  // namespace ktune::sweep
