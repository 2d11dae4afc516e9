#include "report/json.h"
#include "report/report.h"
#include "report/tables.h"

namespace ktune::report {

const std::vector<Format<Report>>& formats() {
  static const std::vector<Format<Report>> kFormats = formats_of<Report>(
      {
          {"json", "schema ktune.report/1, every column; `ktune report FILE` reads it again", print_json},
      },
      document_of);
  return kFormats;
}

}  // namespace ktune::report
