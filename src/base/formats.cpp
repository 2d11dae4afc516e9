#include "base/format.h"

namespace ktune {

const std::vector<Format<Document>>& document_formats() {
  static const std::vector<Format<Document>> kFormats{
#define KTUNE_FORMAT(print, name, summary) {name, summary, print_##print},
#include "base/formats.def"
  };
  return kFormats;
}

}  // namespace ktune
