#include "sweep/winners.h"

#include <algorithm>

#include "base/error.h"
#include "store/store.h"

namespace ktune::sweep {

std::vector<model::ProblemRecord> stored_winners(const std::string& database, const std::string& device) {
  try {
    return store::Store(database, store::Store::Mode::kRead).winner_records(device, 0);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kNoData) throw;
    return {};
  }
}

const model::ProblemRecord* find_winner(const std::vector<model::ProblemRecord>& winners, const std::string& op,
                                        const std::string& problem) {
  const auto at = std::find_if(winners.begin(), winners.end(), [&](const model::ProblemRecord& record) {
    return record.op == op && record.problem.text() == problem;
  });
  return at == winners.end() ? nullptr : &*at;
}

}  // namespace ktune::sweep
