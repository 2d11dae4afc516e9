#include "base/temporary_folder.h"

#include <cstdlib>
#include <system_error>

#include "base/error.h"

namespace ktune {

TemporaryFolder::TemporaryFolder(const std::filesystem::path& parent, const std::string& name,
                                 const std::string& hint) {
  std::string path = (parent / (name + "-XXXXXX")).string();
  if (mkdtemp(path.data()) == nullptr)
    throw Error(ErrorKind::kEnvironment, "cannot make a folder in " + parent.string(), hint);
  path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ktune
