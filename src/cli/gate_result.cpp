#include "cli/gate_result.h"

#include "base/text.h"
#include "cli/selection.h"
#include "cli/version.h"

namespace ktune::cli {

gate::Result begin_result(gate::Mode mode) {
  gate::Result result;
  result.mode = mode;
  result.date = utc_now();
  result.command = command_line();
  result.version = version();
  result.commit = commit();
  return result;
}

}  // namespace ktune::cli
