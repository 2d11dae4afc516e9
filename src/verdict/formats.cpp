#include "verdict/formats.h"

#include "verdict/print.h"

namespace ktune::verdict {

const std::vector<Format<Result>>& formats() {
  static const std::vector<Format<Result>> kFormats = formats_of<Result>(
      {
#define KTUNE_FORMAT(print, name, summary) {name, summary, print_##print},
#include "verdict/formats.def"
      },
      document_of);
  return kFormats;
}

}  // namespace ktune::verdict
