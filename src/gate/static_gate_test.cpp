#include "gate/static_gate.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "sweep/selection.h"

namespace ktune::gate {
namespace {

class StaticGateRun : public testing::Test {
 protected:
  StaticGateRun()
      : folder_(std::filesystem::path(testing::TempDir()) / ("gate_static_test." + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    setenv("KTUNE_CACHE_DIR", (folder_ / "cache").c_str(), 1);
    setenv("KTUNE_DATA_DIR", (folder_ / "data").c_str(), 1);
    options_.targets = {"sm_90"};
    options_.database = (folder_ / "data" / "ktune.db").string();
  }
  ~StaticGateRun() override {
    unsetenv("KTUNE_CACHE_DIR");
    unsetenv("KTUNE_DATA_DIR");
    std::filesystem::remove_all(folder_);
  }

  /// The path of a spec like that of scripts/cases/static, whose kernel begins with `line`.
  std::string spec(const std::string& name, const std::string& line) {
    const std::filesystem::path from = resource_root() / "scripts" / "cases" / "static";
    write_file(folder_ / (name + ".cu"), line + "\n" + read_file(from / "scale.cu"));
    std::string text = read_file(from / "scale.toml");
    text.replace(text.find("scale.cu"), 8, name + ".cu");
    write_file(folder_ / (name + ".toml"), text);
    return (folder_ / (name + ".toml")).string();
  }

  std::filesystem::path folder_;
  StaticGate options_;
};

TEST_F(StaticGateRun, DoesNotPassOverABaseWhoseCompilerRanOutOfTime) {
  const std::string candidate = spec("candidate", "");
  options_.base = options_.candidate = candidate;
  verdict::Result result;
  try {
    result = run_static_gate(options_);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kEnvironment) GTEST_SKIP() << error.message();
    throw;
  }
  ASSERT_EQ(result.rows.size(), 1U);
  EXPECT_EQ(result.rows[0].verdict, verdict::Verdict::kPass);
  EXPECT_TRUE(result.rows[0].identical);
  options_.compile_deadline_s = 0.001;  // the candidate is in the cache
  options_.base = spec("base", "// another one");
  result = run_static_gate(options_);
  ASSERT_EQ(result.rows.size(), 1U);
  EXPECT_EQ(result.rows[0].verdict, verdict::Verdict::kNoData);
  EXPECT_EQ(result.rows[0].reason, "base does not compile: compiling took longer than 0.001 s");
  EXPECT_TRUE(result.rows[0].blocks);
  write_file(folder_ / "base.cu", "nonsense\n");
  options_.compile_deadline_s = 60.0;
  result = run_static_gate(options_);
  EXPECT_FALSE(result.rows.at(0).blocks) << result.rows.at(0).reason;
}

}  // namespace
}  // namespace ktune::gate
