#include "sweep/ledger.h"

#include "sweep/source_bundle.h"

namespace ktune::sweep {

std::int64_t StoreLedger::add_problem(const model::ProblemRecord& record, const model::OpSpec& full) {
  const std::int64_t id = store_.add_problem(record);
  store_.add_source(record.spec_hash, record.source_hash, bundle_of(full));
  return id;
}

}  // namespace ktune::sweep
