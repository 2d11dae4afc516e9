#include "trial/build.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"

namespace ktune::trial {
namespace {

using model::CacheState;

model::Expression expression(const std::string& text) { return {text, {}}; }

model::LaunchSpec launch(const std::string& kernel, const std::string& when = "") {
  model::LaunchSpec spec;
  spec.kernel = kernel;
  spec.args = {expression("x"), expression("N")};
  spec.grid = {expression("cdiv(N, BLOCK)")};
  spec.block = {expression("BLOCK")};
  spec.smem = expression("0");
  if (!when.empty()) spec.when = expression(when);
  return spec;
}

class Build : public testing::Test {
 protected:
  Build() {
    spec_.name = "scale";
    spec_.source_path = "/ops/scale.cu";
    spec_.include_dirs = {"/ops/include"};
    spec_.options = {"-DEXTRA"};
    spec_.dims = {"N"};
    model::TensorSpec x;
    x.name = "x";
    x.role = model::Role::kOut;
    x.shape = {expression("N")};
    x.strides = {expression("1")};
    x.type = "f32";
    spec_.tensors = {x};
    model::Parameter block;
    block.name = "BLOCK";
    block.values = {{128, ""}, {256, ""}};
    spec_.params = {block};
    spec_.defaults = {{"BLOCK", expression("128")}};
    spec_.launches = {launch("scale"), launch("tail", "BLOCK > 128"), launch("scale")};
    spec_.reference = {launch("scale_reference")};
    spec_.reference[0].grid = {expression("cdiv(N, 128)")};
    spec_.reference[0].block = {expression("128")};
    spec_.verify.reduction = expression("1");
    problem_.op = "scale";
    problem_.dims = {{"N", 1000}};
    facts_.name = "GPU";
    facts_.uuid = "GPU-1";
    facts_.target = "sm_90";
    facts_.memory_bytes = 1 << 30;
  }
  static model::Variant variant(std::int64_t block) { return {{{"BLOCK", {block, ""}}}}; }
  std::map<std::string, std::string> parts(std::int64_t block = 128, const std::string& timer = "auto",
                                           CacheState state = CacheState::kCold, std::uint64_t seed = 1) const {
    return fingerprint_parts(spec_, problem_, variant(block), facts_, "key", seed, timer, state);
  }
  std::string print() const { return fingerprint(parts()); }

  model::OpSpec spec_;
  model::Problem problem_;
  model::DeviceFacts facts_;
};

TEST_F(Build, AVariantsJobHasItsMacrosFoldersAndTheKernelsOfItsLaunches) {
  const compile::CompileJob job = variant_job(spec_, problem_, variant(256), facts_, 30.0);
  EXPECT_EQ(job.source_path, "/ops/scale.cu");
  EXPECT_EQ(job.include_dirs,
            (std::vector<std::string>{"/ops/include", (resource_root() / "kernels" / "include").string()}));
  EXPECT_EQ(job.options, std::vector<std::string>{"-DEXTRA"});
  EXPECT_EQ(job.target, "sm_90");
  EXPECT_EQ(job.kernels, (std::vector<std::string>{"scale", "tail"}));
  EXPECT_EQ(job.deadline_s, 30.0);
  EXPECT_EQ(std::count(job.macros.begin(), job.macros.end(), std::pair<std::string, std::string>("BLOCK", "256")), 1);
  EXPECT_EQ(variant_job(spec_, problem_, variant(128), facts_, 30.0).kernels, std::vector<std::string>{"scale"})
      << "a launch whose `when` does not hold is not compiled for";
}

TEST_F(Build, TheReferencesJobSaysSoAndNamesItsOwnKernels) {
  const compile::CompileJob job = reference_job(spec_, problem_, variant(128), facts_, 30.0);
  EXPECT_EQ(job.kernels, std::vector<std::string>{"scale_reference"});
  const auto has = [&job](const std::string& name, const std::string& value) {
    return std::count(job.macros.begin(), job.macros.end(), std::pair<std::string, std::string>(name, value)) == 1;
  };
  EXPECT_TRUE(has("KTUNE_REFERENCE", "1"));
  EXPECT_TRUE(has("BLOCK", "128"));
}

TEST_F(Build, AFingerprintChangesWithEverythingTheTrialDependsOn) {
  const std::string before = print();
  EXPECT_EQ(print(), before);
  EXPECT_NE(fingerprint(parts(256)), before);
  EXPECT_NE(fingerprint(parts(128, "cupti")), before);
  EXPECT_NE(fingerprint(parts(128, "auto", CacheState::kWarm)), before);
  EXPECT_NE(fingerprint(parts(128, "auto", CacheState::kCold, 2)), before);
  EXPECT_NE(
      fingerprint(fingerprint_parts(spec_, problem_, variant(128), facts_, "other key", 1, "auto", CacheState::kCold)),
      before);
  for (std::string model::DeviceFacts::* field : {&model::DeviceFacts::name, &model::DeviceFacts::uuid,
                                                  &model::DeviceFacts::driver, &model::DeviceFacts::toolkit}) {
    const std::string kept = facts_.*field;
    facts_.*field = "other";
    EXPECT_NE(print(), before);
    facts_.*field = kept;
  }
  facts_.power_limit_w = 350;
  EXPECT_NE(print(), before);
  facts_.power_limit_w = 0;
  problem_.dims = {{"N", 1001}};
  EXPECT_NE(print(), before);
  problem_.dims = {{"N", 1000}};
  EXPECT_EQ(print(), before);
}

TEST_F(Build, AFingerprintChangesWithTheSpecOnlyWhereItMattersToTheTrial) {
  const std::string before = print();
  spec_.params[0].values.push_back({512, ""});
  spec_.hash = "other bytes";
  EXPECT_EQ(print(), before) << "a value added to a parameter leaves the other variants' trials as they are";
  spec_.launches[0].grid = {expression("cdiv(N, BLOCK) + 1")};
  EXPECT_NE(print(), before);
  spec_.launches[0].grid = {expression("cdiv(N, BLOCK)")};
  spec_.verify.tolerances = {{"x", {1e-2, 1e-2}}};
  EXPECT_NE(print(), before) << "another tolerance is another verification";
}

TEST_F(Build, AFingerprintCoversLetsByWhatTheyResolveTo) {
  const std::string before = print();
  spec_.lets = {{"blocks", expression("cdiv(N, BLOCK)")}};
  for (model::LaunchSpec& launch : spec_.launches) launch.grid = {expression("blocks")};
  EXPECT_EQ(print(), before) << "a name for an expression changes no trial";
  spec_.lets[0].expr = expression("cdiv(N, BLOCK) + 1");
  EXPECT_NE(print(), before);
}

}  // namespace
}  // namespace ktune::trial
