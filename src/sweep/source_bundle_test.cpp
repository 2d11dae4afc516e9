#include "sweep/source_bundle.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "spec/spec.h"

namespace ktune::sweep {
namespace {

namespace fs = std::filesystem;

class SourceBundleTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ktune-bundle-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(SourceBundleTest, HoldsSpecSourceAndOwnHeadersAndIsTheSameOpElsewhere) {
  const model::OpSpec op = spec::load_shipped_op("triad");
  const model::SourceBundle bundle = bundle_of(op);
  EXPECT_EQ(bundle.spec, "configs/ops/triad.toml");
  std::vector<std::string> names;
  for (const auto& [name, text] : bundle.files) names.push_back(name);
  EXPECT_EQ(names.front(), "configs/ops/triad.toml");
  EXPECT_NE(std::find(names.begin(), names.end(), "kernels/triad.cu"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "kernels/include/ktune_flat.cuh"), names.end());
  EXPECT_EQ(std::find(names.begin(), names.end(), "kernels/copy.cu"), names.end());
  const model::OpSpec again = spec::load_op(unpack(bundle, folder_).string());
  EXPECT_EQ(again.hash, op.hash);
  EXPECT_EQ(read_file(again.source_path), read_file(op.source_path));
  EXPECT_EQ(bundle_of(again).files, bundle.files);
}

TEST_F(SourceBundleTest, LeadsOutOfNoFolder) {
  for (const std::string name : {"../out.cu", "/tmp/out.cu", "a/../../out.cu"}) {
    try {
      unpack({"op.toml", {{"op.toml", ""}, {name, ""}}}, folder_ / "in");
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage) << name;
    }
  }
  EXPECT_FALSE(fs::exists(folder_ / "out.cu"));
}

}  // namespace
}  // namespace ktune::sweep
