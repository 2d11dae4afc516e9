#include "model/json.h"
#include "model/plans_for_test.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ktune::model {
namespace {

/// Through text and back, as it crosses a pipe or a database.
template <typename T>
T through_text(const T& value) {
  return Json::parse(Json(value).dump()).template get<T>();
}

/// The JSON of a value read back is the JSON it was read from.
template <typename T>
void expect_round_trip(const T& value) {
  EXPECT_EQ(Json(through_text(value)).dump(), Json(value).dump());
}

TEST(Json, AProblemIsAnObjectInTheOpsOrder) {
  Problem problem;
  problem.op = "rmsnorm";
  problem.dims = {{"N", 1024}, {"M", 4096}};
  problem.types = {{"scalar_t", "bf16"}};
  problem.attrs = {{"cast_mode", Value{1, "gemma"}}, {"ignore_index", Value{-100, ""}}};
  EXPECT_EQ(Json(problem).dump(),
            R"({"op":"rmsnorm","dims":{"N":1024,"M":4096},"types":{"scalar_t":"bf16"},)"
            R"("attrs":{"cast_mode":{"name":"gemma","number":1},"ignore_index":-100},"weight":1.0})");
}

TEST(Json, AProblemKeepsEveryOverride) {
  Problem problem;
  problem.op = "rmsnorm";
  problem.dims = {{"M", 4}};
  problem.attrs = {{"mode", Value{1, "gemma"}}};
  problem.strides = {{"x", {5000, 1}}};
  problem.offsets = {{"x", 1}};
  problem.scalars = {{"eps", 1e-3}};
  problem.inits = {{"x", InitSpec{InitKind::kUniform, -1, 1}}};
  problem.weight = 2.5;
  Problem read = through_text(problem);
  EXPECT_EQ(read.text(), "M=4 mode=gemma x:strides=5000,1 x:offset=1 eps=0.001 x:init=uniform(-1,1)");
  EXPECT_EQ(read.text(), problem.text());
  EXPECT_EQ(read.op, "rmsnorm");
  EXPECT_EQ(read.attrs[0].second.number, 1);
  EXPECT_EQ(read.weight, 2.5);
}

TEST(Json, AVariantKeepsItsOrderAndItsNames) {
  Variant variant{{{"num_warps", Value{8, ""}}, {"BLOCK_SIZE", Value{4096, ""}}, {"LOADER", Value{2, "tma"}}}};
  EXPECT_EQ(Json(variant).dump(), R"({"num_warps":8,"BLOCK_SIZE":4096,"LOADER":{"name":"tma","number":2}})");
  EXPECT_EQ(through_text(variant), variant);
  EXPECT_EQ(through_text(Variant{}), Variant{});
}

TEST(Json, ATensorKeepsEveryField) {
  TensorPlan read = through_text(tensor_for_test());
  EXPECT_EQ(read.name, "x");
  EXPECT_EQ(read.role, Role::kInOut);
  EXPECT_EQ(read.dtype, DType::kBf16);
  EXPECT_EQ(read.shape, (std::vector<std::int64_t>{4, 512}));
  EXPECT_EQ(read.strides, (std::vector<std::int64_t>{600, 1}));
  EXPECT_EQ(read.offset, 3);
  EXPECT_EQ(read.storage, 2315);
  EXPECT_EQ(read.init.kind, InitKind::kRandint);
  EXPECT_EQ(read.init.a, -5);
  EXPECT_EQ(read.init.b, 5);
  EXPECT_EQ(read.tolerance.rtol, 0.25);
  EXPECT_EQ(read.tolerance.atol, 0.125);
}

TEST(Json, ALaunchKeepsEveryField) {
  LaunchPlan read = through_text(launch_for_test());
  EXPECT_EQ(read.kernel, "rmsnorm");
  ASSERT_EQ(read.args.size(), 3u);
  EXPECT_EQ(read.args[0].kind, ArgPlan::Kind::kTensor);
  EXPECT_EQ(read.args[0].tensor, "x");
  EXPECT_EQ(read.args[1].kind, ArgPlan::Kind::kScalar);
  EXPECT_EQ(read.args[1].dtype, DType::kF64);
  EXPECT_EQ(read.args[1].real, 1e-6);
  EXPECT_EQ(read.args[2].kind, ArgPlan::Kind::kInteger);
  EXPECT_EQ(read.args[2].integer, std::int64_t{1} << 40);
  EXPECT_EQ(read.grid, (std::array<std::int64_t, 3>{132, 2, 3}));
  EXPECT_EQ(read.block, (std::array<std::int64_t, 3>{128, 4, 5}));
  EXPECT_EQ(read.cluster, (std::array<std::int64_t, 3>{2, 6, 7}));
  EXPECT_EQ(read.smem_bytes, 49152);
  EXPECT_TRUE(read.pdl);
}

TEST(Json, PlansKeepTheirListsAndA64BitSeed) {
  ProblemPlan problem;
  problem.op = "rmsnorm";
  problem.problem = "M=4 bf16";
  problem.tensors = {tensor_for_test(), tensor_for_test()};
  problem.reference = {launch_for_test()};
  problem.reference_scratch = {tensor_for_test()};
  problem.seed = std::numeric_limits<std::uint64_t>::max();
  ProblemPlan read = through_text(problem);
  EXPECT_EQ(read.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(read.problem, "M=4 bf16");
  EXPECT_EQ(read.tensors.size(), 2u);
  EXPECT_EQ(read.reference.size(), 1u);
  EXPECT_EQ(read.reference_scratch.size(), 1u);
  expect_round_trip(problem);
  VariantPlan variant{"BLOCK_SIZE=1", {tensor_for_test()}, {launch_for_test(), launch_for_test()}};
  EXPECT_EQ(through_text(variant).variant, "BLOCK_SIZE=1");
  EXPECT_EQ(through_text(variant).launches.size(), 2u);
  expect_round_trip(variant);
}

TEST(Json, AFailureKeepsItsOutcome) {
  Failure failure = fail(Outcome::kTimedOut, "no answer in 30 s", "log\nof it").value();
  Failure read = through_text(failure);
  EXPECT_EQ(read.outcome, Outcome::kTimedOut);
  EXPECT_EQ(read.reason, "no answer in 30 s");
  EXPECT_EQ(read.detail, "log\nof it");
  EXPECT_FALSE(read.transient);
  EXPECT_TRUE(through_text<Failure>(fail_transient(Outcome::kRejected, "no memory").value()).transient);
}

TEST(Json, ABinaryKeepsTheResourcesOfEachKernel) {
  KernelBinary binary;
  binary.path = "a.cubin";
  binary.key = "00ff";
  binary.target = "sm_90";
  binary.resources["rmsnorm"] = {32, 1024, 8, 4, 2};
  binary.resources["reduce"] = {};
  binary.log = "ptxas info";
  binary.cached = true;
  binary.compile_ms = 98.5;
  KernelBinary read = through_text(binary);
  EXPECT_EQ(read.path, "a.cubin");
  EXPECT_EQ(read.key, "00ff");
  EXPECT_EQ(read.target, "sm_90");
  EXPECT_EQ(read.resources.at("rmsnorm").registers, 32);
  EXPECT_EQ(read.resources.at("rmsnorm").shared_bytes, 1024);
  EXPECT_EQ(read.resources.at("rmsnorm").local_bytes, 8);
  EXPECT_EQ(read.resources.at("rmsnorm").spill_store_bytes, 4);
  EXPECT_EQ(read.resources.at("rmsnorm").spill_load_bytes, 2);
  EXPECT_EQ(read.resources.at("reduce").registers, -1);
  EXPECT_EQ(read.log, "ptxas info");
  EXPECT_TRUE(read.cached);
  EXPECT_EQ(read.compile_ms, 98.5);
}

/// Fills every field of a value through its own JSON with numbers and texts that differ from the defaults and from
/// each other: a field that is written but not read (or the reverse) does not survive.
template <typename T>
void expect_every_field_survives(std::size_t fields) {
  Json json = Json(T{});
  ASSERT_EQ(json.size(), fields);
  int next = 1000;
  for (auto& [name, field] : json.items()) {
    ++next;
    if (field.is_string()) {
      field = name.substr(1);
    } else if (field.is_number_float()) {
      field = next + 0.5;
    } else {
      field = next;
    }
  }
  EXPECT_EQ(Json(json.template get<T>()), json);
}

TEST(Json, EveryFieldOfFactsStateTimingAndCostSurvives) {
  expect_every_field_survives<DeviceFacts>(21);
  expect_every_field_survives<MachineState>(6);
  expect_every_field_survives<TimingSummary>(9);
  expect_every_field_survives<Cost>(5);
  expect_every_field_survives<KernelResources>(5);
}

TEST(Json, NanIsNullAndComesBackAsNan) {
  MachineState state;
  state.power_w = std::nan("");
  Json json = state;
  EXPECT_TRUE(json.at("power_w").is_null());
  EXPECT_TRUE(std::isnan(through_text(state).power_w));
}

TEST(Json, InfinitiesSurvive) {
  double infinity = std::numeric_limits<double>::infinity();
  TimingSummary timing;
  timing.time_us = infinity;
  timing.min_us = -infinity;
  EXPECT_EQ(through_text(timing).time_us, infinity);
  EXPECT_EQ(through_text(timing).min_us, -infinity);
}

TEST(Json, DoublesSurviveToTheLastBit) {
  TimingSummary timing;
  timing.time_us = std::nextafter(21.3, 22.0);
  EXPECT_EQ(through_text(timing).time_us, timing.time_us);
}

TEST(Json, MissingNullAndUnknownFieldsKeepTheDefaults) {
  auto facts = Json::parse(R"({"name":"H200","max_threads":null,"colour":"green"})").get<DeviceFacts>();
  EXPECT_EQ(facts.name, "H200");
  EXPECT_EQ(facts.max_threads, 1024);
  EXPECT_EQ(facts.ecc, -1);
  auto problem = Json::parse(R"({"op":"copy"})").get<Problem>();
  EXPECT_EQ(problem.weight, 1.0);
  EXPECT_TRUE(problem.dims.empty());
  EXPECT_EQ(Json::parse("{}").get<Failure>().outcome, Outcome::kCrashed);
  EXPECT_EQ(Json::parse("{}").get<LaunchPlan>().grid, (std::array<std::int64_t, 3>{1, 1, 1}));
}

TEST(Json, WhatIsNoneOfAnEnumerationsNamesThrows) {
  EXPECT_THROW(Json::parse(R"({"outcome":"Exploded"})").get<Failure>(), Json::exception);
  EXPECT_THROW(Json::parse(R"({"dtype":"f8"})").get<TensorPlan>(), Json::exception);
  EXPECT_THROW(Json::parse(R"({"n":"many"})").get<TimingSummary>(), Json::exception);
}

}  // namespace
}  // namespace ktune::model
