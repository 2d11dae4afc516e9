#pragma once

#include <string>

namespace ktune::model {

/// What made a record: kept with every session, gate and file, so that a figure can be traced.
struct Provenance {
  std::string command;  ///< as typed, quoted for a shell
  std::string version;  ///< of ktune: "0.1.0"
  std::string commit;   ///< that the binary was built from, "-dirty" appended where the tree was not clean
};

}  // namespace ktune::model
