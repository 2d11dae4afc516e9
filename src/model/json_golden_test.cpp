// The exact JSON of every struct: databases, baselines, fingerprints and the compile cache hold this text.

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "model/json.h"
#include "model/plans_for_test.h"

namespace ktune::model {
namespace {

/// A value is written as this text, and what is read from this text is written so again.
template <typename T>
void expect_json(const T& value, const std::string& text) {
  EXPECT_EQ(Json(value).dump(), text);
  EXPECT_EQ(Json(Json::parse(text).get<T>()).dump(), text);
}

TEST(JsonGolden, Plans) {
  expect_json(
      tensor_for_test(),
      R"({"name":"x","role":"inout","dtype":"bf16","shape":[4,512],"strides":[600,1],"offset":3,)"
      R"("storage":2315,"init":{"kind":"randint","a":-5.0,"b":5.0},"rtol":0.25,"atol":0.125,"rms":1.0,"unit":0.0})");
  expect_json(LaunchPlan{},
              R"({"kernel":"","args":[],"grid":[1,1,1],"block":[1,1,1],"cluster":[1,1,1],"smem_bytes":0,"pdl":false})");
  expect_json(launch_for_test(),
              R"({"kernel":"rmsnorm","args":[{"kind":"tensor","tensor":"x"},{"kind":"scalar","dtype":"f64",)"
              R"("real":1e-06},{"kind":"integer","integer":1099511627776}],"grid":[132,2,3],"block":[128,4,5],)"
              R"("cluster":[2,6,7],"smem_bytes":49152,"pdl":true})");
  ProblemPlan problem;
  problem.op = "rmsnorm";
  problem.problem = "M=4 bf16";
  problem.tensors = {tensor_for_test()};
  problem.reference = {LaunchPlan{}};
  problem.seed = std::numeric_limits<std::uint64_t>::max();
  expect_json(
      problem,
      R"({"op":"rmsnorm","problem":"M=4 bf16","tensors":[{"name":"x","role":"inout","dtype":"bf16",)"
      R"("shape":[4,512],"strides":[600,1],"offset":3,"storage":2315,"init":{"kind":"randint","a":-5.0,)"
      R"("b":5.0},"rtol":0.25,"atol":0.125,"rms":1.0,"unit":0.0}],"reference":[{"kernel":"","args":[],"grid":[1,1,1],"block":[1,1,)"
      R"(1],"cluster":[1,1,1],"smem_bytes":0,"pdl":false}],"reference_scratch":[],)"
      R"("seed":18446744073709551615,"least_cold_us":0.0})");
  expect_json(VariantPlan{"BLOCK_SIZE=1", {}, {LaunchPlan{}}},
              R"({"variant":"BLOCK_SIZE=1","scratch":[],"launches":[{"kernel":"","args":[],"grid":[1,1,1],"block":[1,)"
              R"(1,1],"cluster":[1,1,1],"smem_bytes":0,"pdl":false}]})");
  expect_json(Cost{1, 2, 3, 4, 5}, R"({"bytes_read":1,"bytes_written":2,"scratch_bytes":3,"flops":4,"launches":5})");
}

TEST(JsonGolden, ProblemsAndVariants) {
  Problem problem;
  problem.op = "rmsnorm";
  problem.dims = {{"N", 1024}, {"M", 4096}};
  expect_json(problem, R"({"op":"rmsnorm","dims":{"N":1024,"M":4096},"types":{},"attrs":{},"weight":1.0})");
  problem.types = {{"scalar_t", "bf16"}};
  problem.attrs = {{"mode", Value{1, "gemma"}}, {"ignore_index", Value{-100, ""}}};
  problem.strides = {{"x", {5000, 1}}};
  problem.offsets = {{"x", 1}};
  problem.scalars = {{"eps", 1e-3}, {"scale", std::numeric_limits<double>::infinity()}};
  problem.inits = {{"x", InitSpec{InitKind::kUniform, -1, 1}}};
  problem.weight = 2.5;
  expect_json(problem,
              R"({"op":"rmsnorm","dims":{"N":1024,"M":4096},"types":{"scalar_t":"bf16"},)"
              R"("attrs":{"mode":{"name":"gemma","number":1},"ignore_index":-100},"strides":{"x":[5000,1]},)"
              R"("offsets":{"x":1},"scalars":{"eps":0.001,"scale":"inf"},"inits":{"x":{"kind":"uniform","a":-1.0,)"
              R"("b":1.0}},"weight":2.5})");
  expect_json(Variant{}, "{}");
  expect_json(Variant{{{"num_warps", Value{8, ""}}, {"LOADER", Value{2, "tma"}}}},
              R"({"num_warps":8,"LOADER":{"name":"tma","number":2}})");
}

TEST(JsonGolden, FailuresAndBinaries) {
  expect_json(Failure{Outcome::kTimedOut, "no answer", "log\nof it"},
              R"({"outcome":"TimedOut","reason":"no answer","detail":"log\nof it"})");
  expect_json(Failure{Outcome::kRejected, "no memory", "", true},
              R"({"outcome":"Rejected","reason":"no memory","detail":"","transient":true})");
  KernelBinary binary;
  expect_json(binary, R"({"path":"","key":"","target":"","resources":{},"log":"","cached":false,"compile_ms":0.0})");
  binary.path = "a.cubin";
  binary.key = "00ff";
  binary.target = "sm_90";
  binary.resources["rmsnorm"] = {32, 1024, 8, 4, 2};
  binary.resources["reduce"] = {};
  binary.log = "ptxas info";
  binary.cached = true;
  binary.compile_ms = 98.5;
  expect_json(binary, R"({"path":"a.cubin","key":"00ff","target":"sm_90","resources":{"reduce":{"registers":-1,)"
                      R"("shared_bytes":-1,"local_bytes":-1,"spill_store_bytes":-1,"spill_load_bytes":-1},)"
                      R"("rmsnorm":{"registers":32,"shared_bytes":1024,"local_bytes":8,"spill_store_bytes":4,)"
                      R"("spill_load_bytes":2}},"log":"ptxas info","cached":true,"compile_ms":98.5})");
}

TEST(JsonGolden, FactsStatesAndTimings) {
  expect_json(DeviceFacts{},
              R"({"kind":"","name":"","uuid":"","target":"","sm":0,"sm_count":0,"l2_bytes":0,"smem_optin":0,)"
              R"("max_threads":1024,"registers_per_sm":0,"memory_bytes":0,"memory_clock_mhz":0,"bus_bits":0,)"
              R"("spec_gbps":0.0,"driver":"","driver_cuda":0,"toolkit":"","power_limit_w":0.0,"ecc":-1,"mig":-1,)"
              R"("host":""})");
  DeviceFacts facts;
  facts.kind = "cuda";
  facts.name = "NVIDIA H200";
  facts.uuid = "GPU-1";
  facts.target = "sm_90";
  facts.sm = 90;
  facts.sm_count = 132;
  facts.l2_bytes = 62914560;
  facts.smem_optin = 232448;
  facts.max_threads = 512;
  facts.registers_per_sm = 65536;
  facts.memory_bytes = 150000000000;
  facts.memory_clock_mhz = 3201;
  facts.bus_bits = 6144;
  facts.spec_gbps = 4916.7;
  facts.driver = "580.159.04";
  facts.driver_cuda = 13000;
  facts.toolkit = "NVRTC 13.0";
  facts.power_limit_w = 700.0;
  facts.ecc = 1;
  facts.mig = 0;
  facts.host = "EPYC";
  expect_json(facts,
              R"({"kind":"cuda","name":"NVIDIA H200","uuid":"GPU-1","target":"sm_90","sm":90,"sm_count":132,)"
              R"("l2_bytes":62914560,"smem_optin":232448,"max_threads":512,"registers_per_sm":65536,)"
              R"("memory_bytes":150000000000,"memory_clock_mhz":3201,"bus_bits":6144,"spec_gbps":4916.7,)"
              R"("driver":"580.159.04","driver_cuda":13000,"toolkit":"NVRTC 13.0","power_limit_w":700.0,"ecc":1,)"
              R"("mig":0,"host":"EPYC"})");
  expect_json(MachineState{},
              R"({"sm_clock_mhz":-1.0,"memory_clock_mhz":-1.0,"power_w":-1.0,"temperature_c":-1.0,"throttle_bits":0,)"
              R"("other_processes":0})");
  expect_json(MachineState{1980.0, std::numeric_limits<double>::quiet_NaN(), 300.5, 41.0, 1ULL << 63, 2},
              R"({"sm_clock_mhz":1980.0,"memory_clock_mhz":null,"power_w":300.5,"temperature_c":41.0,)"
              R"("throttle_bits":9223372036854775808,"other_processes":2})");
  expect_json(TimingSummary{21.3, std::numeric_limits<double>::infinity(), 1, 2, 3, 4, 5, 0.9, 7},
              R"({"time_us":21.3,"mean_us":"inf","min_us":1.0,"p10_us":2.0,"p90_us":3.0,"ci_low_us":4.0,)"
              R"("ci_high_us":5.0,"ci_level":0.9,"n":7})");
}

}  // namespace
}  // namespace ktune::model
