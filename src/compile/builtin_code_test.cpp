#include "compile/builtin_code.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "base/files.h"

namespace ktune::compile {
namespace {

namespace fs = std::filesystem;

/// A cache folder of its own for each test.
class BuiltinCode : public ::testing::Test {
 protected:
  BuiltinCode() {
    if (const char* set = getenv("KTUNE_CACHE_DIR"); set != nullptr) before_ = set;
    std::string pattern = (fs::temp_directory_path() / "ktune-builtin-XXXXXX").string();
    dir_ = mkdtemp(pattern.data());
    setenv("KTUNE_CACHE_DIR", dir_.c_str(), 1);
  }
  ~BuiltinCode() override {
    if (before_.empty()) {
      unsetenv("KTUNE_CACHE_DIR");
    } else {
      setenv("KTUNE_CACHE_DIR", before_.c_str(), 1);
    }
    fs::remove_all(dir_);
  }
  std::vector<fs::path> cached() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(dir_ / "builtin")) files.push_back(entry.path());
    return files;
  }

  std::string before_;
  fs::path dir_;
};

TEST_F(BuiltinCode, IsMadeForEveryArchitecture) {
  for (const char* target : {"sm_80", "sm_90", "sm_100", "sm_120"}) {
    const std::string code = builtin_code(target);
    EXPECT_EQ(code.substr(1, 3), "ELF") << target;
    for (const char* kernel : {"ktune_fill", "ktune_compare", "ktune_evict_discard", "ktune_hold", "ktune_spin"}) {
      EXPECT_NE(code.find(kernel), std::string::npos) << target << " " << kernel;
    }
  }
  EXPECT_EQ(cached().size(), 4U);
}

TEST_F(BuiltinCode, ComesFromTheCacheUnlessThatIsDamaged) {
  const std::string code = builtin_code("sm_90");
  ASSERT_EQ(cached().size(), 1U);
  const fs::path file = cached()[0];
  EXPECT_EQ(builtin_code("sm_90"), code);
  const std::string whole = read_file(file);
  write_file(file, whole.substr(0, whole.size() / 2));
  EXPECT_EQ(builtin_code("sm_90"), code);
  EXPECT_EQ(read_file(file), whole);
}

}  // namespace
}  // namespace ktune::compile
