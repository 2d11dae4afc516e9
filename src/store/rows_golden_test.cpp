// The exact content of every row: a database of yesterday's ktune is read by today's, and the reverse.

#include <SQLiteCpp/SQLiteCpp.h>

#include <limits>

#include "store/fixture.h"

namespace ktune::store {
namespace {

/// Every column of the only row as "name=SQL literal", a line each; its random uid aside.
std::string row_of(const std::string& path, const std::string& table) {
  SQLite::Database database(path);
  std::string columns;
  SQLite::Statement info(database, "SELECT name FROM pragma_table_info('" + table + "') WHERE name <> 'uid'");
  while (info.executeStep()) {
    const std::string name = info.getColumn(0).getString();
    columns += (columns.empty() ? "'" : " || char(10) || '") + name + "=' || quote(" + name + ")";
  }
  return database.execAndGet("SELECT " + columns + " FROM " + table).getString();
}

model::TrialRecord trial_of_everything(const model::ProblemRecord& problem) {
  model::TrialRecord trial = trial_of(problem, variant_of(2048, 8), 21.25);
  trial.is_final = true;
  trial.reason = "";
  trial.detail = "a log with 'quotes'";
  trial.transient = true;
  trial.fingerprint_parts = {{"driver", "580"}, {"spec", "1"}};
  trial.binary_key = "key";
  trial.resources = {{"rmsnorm", {64, 128, 16, 4, 8}}};
  trial.compile_ms = 101.5;
  trial.verify_margin = 0.25;
  trial.seed = 0xFFFFFFFFFFFFFFF1ULL;
  trial.timing = {21.25, 21.5, 20.0, 20.5, 22.0, 21.0, 21.75, 0.9, 3};
  trial.samples.timer = model::Timer::kGraph;
  trial.samples.cache_state = model::CacheState::kDirty;
  trial.before = {1980.0, 3201.0, 300.0, 41.0, 4, 1};
  trial.warnings = {"clock moved"};
  trial.traffic = {1000, 500, "not all"};
  return trial;
}

model::ProblemRecord problem_of_everything(std::int64_t session) {
  model::ProblemRecord problem = record_of(session, problem_of("rmsnorm", 4));
  problem.winner = variant_of(2048, 8);
  problem.tie_set = {variant_of(2048, 8), variant_of(1024)};
  problem.timer = "cupti";
  return problem;
}

TEST_F(StoreTest, ASessionIsWrittenAsEver) {
  Store store(file(), Store::Mode::kWrite);
  store.add_session(session_of("2026-11-29T14:03:05Z"));
  EXPECT_EQ(row_of(file(), "session"),
            "id=1\n"
            "date='2026-11-29T14:03:05Z'\n"
            "command='ktune sweep --op rmsnorm'\n"
            "version='0.1.0'\n"
            "commit_hash='abc123'\n"
            "device_kind='cuda'\n"
            "device_name='NVIDIA H200'\n"
            R"(device='{"kind":"cuda","name":"NVIDIA H200","uuid":"","target":"","sm":0,"sm_count":0,)"
            R"("l2_bytes":62914560,"smem_optin":0,"max_threads":1024,"registers_per_sm":0,"memory_bytes":0,)"
            R"("memory_clock_mhz":0,"bus_bits":0,"spec_gbps":4814.0,"driver":"580.159.04","driver_cuda":0,)"
            R"("toolkit":"NVRTC 13.0","power_limit_w":0.0,"ecc":-1,"mig":-1,"host":""}')"
            "\n"
            "complete=0");
}

TEST_F(StoreTest, AProblemIsWrittenAsEver) {
  Store store(file(), Store::Mode::kWrite);
  store.add_problem(record_of(store.add_session(session_of("2026-11-29T14:03:05Z")), problem_of("rmsnorm", 4)));
  EXPECT_EQ(row_of(file(), "problem"),
            "id=1\n"
            "session_id=1\n"
            "op='rmsnorm'\n"
            "text='M=4 N=4096 bf16'\n"
            "dtype='bf16'\n"
            R"(problem='{"op":"rmsnorm","dims":{"M":4,"N":4096},"types":{"scalar_t":"bf16"},"attrs":{},)"
            R"("weight":1.0}')"
            "\n"
            R"(default_variant='{"BLOCK_SIZE":1024,"num_warps":4,"LOADER":{"name":"ldg","number":1}}')"
            "\n"
            R"(cost='{"bytes_read":1000,"bytes_written":500,"scratch_bytes":8,"flops":42,"launches":0}')"
            "\n"
            "spec_hash='spec'\n"
            "source_hash='source'\n"
            "enumerated=12\n"
            R"(rejected='{"each thread needs at least one element":7}')"
            "\n"
            "not_visited=2\n"
            "reused=1\n"
            "timer=NULL\n"
            "cache_state=NULL\n"
            "winner='{}'\n"
            "tie_set='[]'\n"
            "decided_timer=''");
}

TEST_F(StoreTest, AnUpdatedProblemIsWrittenAsEver) {
  Store store(file(), Store::Mode::kWrite);
  const std::int64_t session = store.add_session(session_of("2026-11-29T14:03:05Z"));
  const std::int64_t id = store.add_problem(record_of(session, problem_of("rmsnorm", 4)));
  model::ProblemRecord problem = problem_of_everything(session);
  problem.id = id;
  problem.enumerated = 13;
  problem.rejected = {};
  problem.not_visited = 3;
  problem.reused = 4;
  store.update_problem(problem);
  EXPECT_EQ(row_of(file(), "problem"),
            "id=1\n"
            "session_id=1\n"
            "op='rmsnorm'\n"
            "text='M=4 N=4096 bf16'\n"
            "dtype='bf16'\n"
            R"(problem='{"op":"rmsnorm","dims":{"M":4,"N":4096},"types":{"scalar_t":"bf16"},"attrs":{},)"
            R"("weight":1.0}')"
            "\n"
            R"(default_variant='{"BLOCK_SIZE":1024,"num_warps":4,"LOADER":{"name":"ldg","number":1}}')"
            "\n"
            R"(cost='{"bytes_read":1000,"bytes_written":500,"scratch_bytes":8,"flops":42,"launches":0}')"
            "\n"
            "spec_hash='spec'\n"
            "source_hash='source'\n"
            "enumerated=13\n"
            "rejected='{}'\n"
            "not_visited=3\n"
            "reused=4\n"
            "timer=NULL\n"
            "cache_state=NULL\n"
            R"(winner='{"BLOCK_SIZE":2048,"num_warps":8,"LOADER":{"name":"ldg","number":1}}')"
            "\n"
            R"(tie_set='[{"BLOCK_SIZE":2048,"num_warps":8,"LOADER":{"name":"ldg","number":1}},{"BLOCK_SIZE":1024,)"
            R"("num_warps":4,"LOADER":{"name":"ldg","number":1}}]')"
            "\n"
            "decided_timer='cupti'");
}

TEST_F(StoreTest, ATrialIsWrittenAsEver) {
  Store store(file(), Store::Mode::kWrite);
  model::ProblemRecord problem = problem_of_everything(store.add_session(session_of("2026-11-29T14:03:05Z")));
  problem.id = store.add_problem(problem);
  store.add_trial(trial_of_everything(problem));
  EXPECT_EQ(row_of(file(), "trial"),
            "id=1\n"
            "session_id=1\n"
            "problem_id=1\n"
            "op='rmsnorm'\n"
            "problem_text='M=4 N=4096 bf16'\n"
            "variant_text='BLOCK_SIZE=2048,num_warps=8,LOADER=ldg'\n"
            R"(variant='{"BLOCK_SIZE":2048,"num_warps":8,"LOADER":{"name":"ldg","number":1}}')"
            "\n"
            "is_default=0\n"
            "is_final=1\n"
            "outcome='Measured'\n"
            "reason=''\n"
            "date='2026-11-29T14:03:05Z'\n"
            "timer='graph'\n"
            "cache_state='dirty'\n"
            "n=3\n"
            "time_us=21.25\n"
            "mean_us=21.5\n"
            "min_us=20.0\n"
            "p10_us=20.5\n"
            "p90_us=22.0\n"
            "ci_low_us=21.0\n"
            "ci_high_us=21.75\n"
            "ci_level=0.9\n"
            "compile_ms=101.5\n"
            "verify_margin=0.25\n"
            "seed=-15\n"
            "fingerprint='fp M=4 N=4096 bf16 BLOCK_SIZE=2048,num_warps=8,LOADER=ldg'\n"
            R"(fingerprint_parts='{"driver":"580","spec":"1"}')"
            "\n"
            "binary_key='key'\n"
            R"(resources='{"rmsnorm":{"registers":64,"shared_bytes":128,"local_bytes":16,"spill_store_bytes":4,)"
            R"("spill_load_bytes":8}}')"
            "\n"
            R"(state_before='{"sm_clock_mhz":1980.0,"memory_clock_mhz":3201.0,"power_w":300.0,"temperature_c":41.0,)"
            R"("throttle_bits":4,"other_processes":1}')"
            "\n"
            R"(state_after='{"sm_clock_mhz":-1.0,"memory_clock_mhz":-1.0,"power_w":-1.0,"temperature_c":-1.0,)"
            R"("throttle_bits":0,"other_processes":0}')"
            "\n"
            R"(warnings='["clock moved"]')"
            "\n"
            "samples=X'00000000004035400000000000C034400000000000C03540'\n"
            "detail='a log with ''quotes'''\n"
            "dram_read=1000\n"
            "dram_written=500\n"
            "traffic_note='not all'\n"
            "transient=1");
  store.set_traffic(1, {7, 8, "why"});
  EXPECT_NE(row_of(file(), "trial").find("dram_read=7\ndram_written=8\ntraffic_note='why'\n"), std::string::npos);
}

TEST_F(StoreTest, AFailureIsWrittenAsEverWithNullsForItsTiming) {
  Store store(file(), Store::Mode::kWrite);
  model::ProblemRecord problem = problem_of_everything(store.add_session(session_of("2026-11-29T14:03:05Z")));
  problem.id = store.add_problem(problem);
  model::TrialRecord trial = failure_of(problem, variant_of(256), model::Outcome::kCompileFailed, "no memory");
  trial.verify_margin = std::numeric_limits<double>::quiet_NaN();
  trial.warnings = {"\xff"};
  store.add_trial(trial);
  EXPECT_EQ(row_of(file(), "trial"),
            "id=1\n"
            "session_id=1\n"
            "problem_id=1\n"
            "op='rmsnorm'\n"
            "problem_text='M=4 N=4096 bf16'\n"
            "variant_text='BLOCK_SIZE=256,num_warps=4,LOADER=ldg'\n"
            R"(variant='{"BLOCK_SIZE":256,"num_warps":4,"LOADER":{"name":"ldg","number":1}}')"
            "\n"
            "is_default=0\n"
            "is_final=0\n"
            "outcome='CompileFailed'\n"
            "reason='no memory'\n"
            "date='2026-11-29T14:03:05Z'\n"
            "timer=NULL\n"
            "cache_state='cold'\n"
            "n=NULL\n"
            "time_us=NULL\n"
            "mean_us=NULL\n"
            "min_us=NULL\n"
            "p10_us=NULL\n"
            "p90_us=NULL\n"
            "ci_low_us=NULL\n"
            "ci_high_us=NULL\n"
            "ci_level=NULL\n"
            "compile_ms=0.0\n"
            "verify_margin=NULL\n"
            "seed=0\n"
            "fingerprint='fp M=4 N=4096 bf16 BLOCK_SIZE=256,num_warps=4,LOADER=ldg'\n"
            "fingerprint_parts='{}'\n"
            "binary_key=''\n"
            "resources='{}'\n"
            R"(state_before='{"sm_clock_mhz":-1.0,"memory_clock_mhz":-1.0,"power_w":-1.0,"temperature_c":-1.0,)"
            R"("throttle_bits":0,"other_processes":0}')"
            "\n"
            R"(state_after='{"sm_clock_mhz":-1.0,"memory_clock_mhz":-1.0,"power_w":-1.0,"temperature_c":-1.0,)"
            R"("throttle_bits":0,"other_processes":0}')"
            "\n"
            R"(warnings='["�"]')"
            "\n"
            "samples=X''\n"
            "detail=''\n"
            "dram_read=-1\n"
            "dram_written=-1\n"
            "traffic_note=''\n"
            "transient=0");
}

TEST_F(StoreTest, FitsNoisesAndSourcesAreWrittenAsEver) {
  Store store(file(), Store::Mode::kWrite);
  store.add_fit({"NVIDIA H200",
                 "580",
                 700.0,
                 0.5,
                 model::CacheState::kDirty,
                 model::Timer::kCupti,
                 2,
                 3.25,
                 4000.0,
                 4010.0,
                 1.5,
                 {{1048576, 4.5}, {16777216, 9.75}},
                 "2026-11-29T00:00:00Z",
                 "abc123"});
  EXPECT_EQ(row_of(file(), "fit"),
            "id=1\n"
            "device='NVIDIA H200'\n"
            "driver='580'\n"
            "power_limit_w=700.0\n"
            "read_fraction=0.5\n"
            "cache_state='dirty'\n"
            "timer='cupti'\n"
            "launches=2\n"
            "t0_us=3.25\n"
            "gbps=4000.0\n"
            "ceiling_gbps=4010.0\n"
            "worst_residual_pct=1.5\n"
            "points='[[1048576,4.5],[16777216,9.75]]'\n"
            "date='2026-11-29T00:00:00Z'\n"
            "commit_hash='abc123'");
  store.add_noise({"NVIDIA H200", "580", 700.0, "cold", 0.25, 0.001, 3, 20, "2026-11-29T00:00:00Z", "abc123"});
  EXPECT_EQ(row_of(file(), "process_noise"),
            "id=1\n"
            "device='NVIDIA H200'\n"
            "driver='580'\n"
            "power_limit_w=700.0\n"
            "cache_state='cold'\n"
            "constant_us=0.25\n"
            "relative=0.001\n"
            "kernels=3\n"
            "pairs=20\n"
            "date='2026-11-29T00:00:00Z'\n"
            "commit_hash='abc123'");
  store.add_source("s", "t", {"a.toml", {{"a.toml", "x = 1"}, {"b.cu", "int"}}});
  EXPECT_EQ(row_of(file(), "bundle"),
            "hash='2ea13e04425f014e75c468f24aea2370'\n"
            "spec='a.toml'\n"
            R"(files='[["a.toml","x = 1"],["b.cu","int"]]')");
}

}  // namespace
}  // namespace ktune::store
