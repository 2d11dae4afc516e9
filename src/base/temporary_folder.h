#pragma once

#include <filesystem>
#include <string>

namespace ktune {

/// A folder of a random name that goes, with all that is in it, when this does.
class TemporaryFolder {
 public:
  /// PARENT/NAME-XXXXXX. Throws Error(kEnvironment, hint) when it cannot be made.
  TemporaryFolder(const std::filesystem::path& parent, const std::string& name, const std::string& hint);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ktune
