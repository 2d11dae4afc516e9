#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "base/environment_for_test.h"
#include "base/error.h"

namespace ktune {
namespace {

namespace fs = std::filesystem;

class FilesTest : public testing::Test {
 protected:
  FilesTest() {
    std::string name = (fs::temp_directory_path() / "ktune-files-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~FilesTest() override { fs::remove_all(folder_); }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(folder_)) result.push_back(entry.path().filename());
    return result;
  }

  fs::path folder_;
};

Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::kNo, "nothing was thrown");
}

TEST_F(FilesTest, WhatIsWrittenIsReadBackByteForByte) {
  std::string bytes(200'000, 'x');
  bytes[5] = '\0';
  bytes[199'999] = '\xFF';
  write_file(folder_ / "a", bytes);
  EXPECT_EQ(read_file(folder_ / "a"), bytes);
  write_file(folder_ / "a", "");
  EXPECT_EQ(read_file(folder_ / "a"), "");
}

TEST_F(FilesTest, NoTemporaryIsLeftBehind) {
  write_file(folder_ / "a", "1");
  write_file(folder_ / "a", "2");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(FilesTest, AReaderThatHoldsTheOldFileKeepsTheOldText) {
  write_file(folder_ / "a", "old");
  std::ifstream reader(folder_ / "a");
  write_file(folder_ / "a", "new");
  std::string text;
  reader >> text;
  EXPECT_EQ(text, "old");
}

TEST_F(FilesTest, ASymbolicLinkIsFollowedNotReplaced) {
  write_file(folder_ / "real", "old");
  fs::create_symlink("real", folder_ / "link");
  write_file(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "real"), "new");
}

TEST_F(FilesTest, APipeIsWrittenInPlace) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  std::fstream holder(folder_ / "pipe", std::ios::in | std::ios::out);
  write_file(folder_ / "pipe", "hello\n");
  std::string line;
  std::getline(holder, line);
  EXPECT_EQ(line, "hello");
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
}

TEST_F(FilesTest, AMissingFileIsAUsageErrorThatNamesIt) {
  Error error = error_of([&] { read_file(folder_ / "none"); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(error.message(), "cannot read " + (folder_ / "none").string() + ": No such file or directory");
}

TEST_F(FilesTest, AFolderIsNotReadAsAFile) {
  EXPECT_EQ(error_of([&] { read_file(folder_); }).message(), "cannot read " + folder_.string() + ": Is a directory");
}

TEST_F(FilesTest, WritingIntoAMissingFolderSaysToCreateIt) {
  Error error = error_of([&] { write_file(folder_ / "no" / "a", "x"); });
  EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
  EXPECT_EQ(error.message(), "cannot write " + (folder_ / "no" / "a").string() + ": No such file or directory");
  EXPECT_EQ(error.hint(), "create the folder " + (folder_ / "no").string() + " first");
}

TEST_F(FilesTest, WritingOverAFolderFailsAndLeavesNothing) {
  fs::create_directory(folder_ / "sub");
  EXPECT_EQ(error_of([&] { write_file(folder_ / "sub", "x"); }).kind(), ErrorKind::kEnvironment);
  EXPECT_EQ(names(), std::vector<std::string>{"sub"});
}

TEST_F(FilesTest, ResourcesAreFoundAboveABuildTree) {
  fs::create_directories(folder_ / "tree" / "kernels");
  fs::create_directories(folder_ / "tree" / "configs");
  fs::create_directories(folder_ / "tree" / "build" / "deep");
  EXPECT_EQ(find_resource_root(folder_ / "tree" / "build" / "deep"), folder_ / "tree");
}

TEST_F(FilesTest, ResourcesAreFoundInAnInstalledPrefixFromItsBinFolderAndFromItself) {
  fs::create_directories(folder_ / "prefix" / "share" / "ktune" / "kernels");
  fs::create_directories(folder_ / "prefix" / "share" / "ktune" / "configs");
  fs::create_directories(folder_ / "prefix" / "bin");
  EXPECT_EQ(find_resource_root(folder_ / "prefix" / "bin"), folder_ / "prefix" / "share" / "ktune");
  EXPECT_EQ(find_resource_root(folder_ / "prefix"), folder_ / "prefix" / "share" / "ktune");
}

TEST_F(FilesTest, AFolderWithOnlyOneOfThemIsNotTheResources) {
  fs::create_directories(folder_ / "kernels");
  EXPECT_EQ(find_resource_root(folder_), std::nullopt);
}

TEST_F(FilesTest, KtuneRootIsUsedAndAWrongOneIsAnErrorNotASilentFallback) {
  fs::create_directories(folder_ / "kernels");
  fs::create_directories(folder_ / "configs");
  {
    ScopedVariable root("KTUNE_ROOT", folder_.string());
    EXPECT_EQ(resource_root(), folder_);
  }
  ScopedVariable root("KTUNE_ROOT", (folder_ / "kernels").string());
  Error error = error_of([] { resource_root(); });
  EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
  EXPECT_EQ(error.message(),
            "KTUNE_ROOT is " + (folder_ / "kernels").string() + ", which does not hold kernels/ and configs/");
}

TEST_F(FilesTest, TheCacheFolderFollowsItsVariablesInOrderAndIsCreated) {
  ScopedVariable home("HOME", (folder_ / "home").string());
  ScopedVariable own("KTUNE_CACHE_DIR", std::nullopt);
  ScopedVariable xdg("XDG_CACHE_HOME", std::nullopt);
  EXPECT_EQ(cache_dir(), folder_ / "home" / ".cache" / "ktune");
  EXPECT_TRUE(fs::is_directory(folder_ / "home" / ".cache" / "ktune"));
  ScopedVariable xdg_set("XDG_CACHE_HOME", (folder_ / "xdg").string());
  EXPECT_EQ(cache_dir(), folder_ / "xdg" / "ktune");
  ScopedVariable own_set("KTUNE_CACHE_DIR", (folder_ / "own").string());
  EXPECT_EQ(cache_dir(), folder_ / "own");
}

TEST_F(FilesTest, ARelativeXdgFolderIsIgnored) {
  ScopedVariable home("HOME", (folder_ / "home").string());
  ScopedVariable own("KTUNE_DATA_DIR", std::nullopt);
  ScopedVariable xdg("XDG_DATA_HOME", "relative");
  EXPECT_EQ(data_dir(), folder_ / "home" / ".local/share" / "ktune");
}

TEST_F(FilesTest, ADataFolderThatCannotBeCreatedSaysWhichVariableToSet) {
  write_file(folder_ / "file", "x");
  ScopedVariable own("KTUNE_DATA_DIR", (folder_ / "file" / "sub").string());
  Error error = error_of([] { data_dir(); });
  EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
  EXPECT_EQ(error.hint(), "set KTUNE_DATA_DIR to a folder that can be written");
}

TEST(Files, TheExecutableIsThisTest) { EXPECT_EQ(executable_path().filename(), "test_base"); }

}  // namespace
}  // namespace ktune
