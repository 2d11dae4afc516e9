#include "gate/begin_result.h"

#include "base/text.h"

namespace ktune::gate {

verdict::Result begin_result(verdict::Mode mode, const model::Provenance& provenance) {
  verdict::Result result;
  result.mode = mode;
  result.date = utc_now();
  result.command = provenance.command;
  result.version = provenance.version;
  result.commit = provenance.commit;
  return result;
}

}  // namespace ktune::gate
