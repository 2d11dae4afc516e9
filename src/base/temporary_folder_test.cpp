#include "base/temporary_folder.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"

namespace ktune {
namespace {

namespace fs = std::filesystem;

TEST(TemporaryFolder, GoesWithWhatIsInIt) {
  fs::path path;
  {
    const TemporaryFolder one(testing::TempDir(), "ktune-one", ""), other(testing::TempDir(), "ktune-one", "");
    EXPECT_NE(one.path(), other.path());
    path = one.path();
    EXPECT_TRUE(path.filename().string().starts_with("ktune-one-"));
    fs::create_directory(path / "sub");
    write_file(path / "sub" / "file", "text");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolder, SaysWhereItCannotBeMadeAndWhatToDo) {
  try {
    const TemporaryFolder folder("/nowhere", "ktune", "set TMPDIR");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_EQ(error.message(), "cannot make a folder in /nowhere");
    EXPECT_EQ(error.hint(), "set TMPDIR");
  }
}

}  // namespace
}  // namespace ktune
