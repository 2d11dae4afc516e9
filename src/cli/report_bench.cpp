#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "report/report.h"
#include "store/store.h"

// A report of winners over a database of 200,000 trials, from opening the file to the printed text: under 1 s is
// promised. Two shapes of history: many sessions of the same problems, where most trials are hidden by newer ones, and
// one giant session, where every problem is shown.

namespace ktune::cli {
namespace {

using store::Store;

constexpr std::int64_t kTrials = 200000;
constexpr std::int64_t kVariants = 200;  // trials a problem

model::SessionRecord session_of(std::int64_t number) {
  model::SessionRecord session;
  session.date = fmt::format("2026-{:02}-{:02}T14:03:05Z", 1 + number / 28 % 12, 1 + number % 28);
  session.command = "ktune sweep --op rmsnorm";
  session.version = "0.1.0";
  session.commit = "abc123";
  session.device.kind = "cuda";
  session.device.name = "NVIDIA H200";
  session.device.driver = "580.159.04";
  session.device.l2_bytes = 60 << 20;
  session.device.spec_gbps = 4814.0;
  session.complete = true;
  return session;
}

model::Variant variant_of(std::int64_t number) {
  model::Variant variant;
  for (const char* name : {"BLOCK_SIZE", "num_warps", "ROWS", "VEC_BYTES", "STAGES"})
    variant.values.emplace_back(name, model::Value{256 << (number % 5), ""});
  variant.values.emplace_back("LOADER", model::Value{number, fmt::format("loader{}", number)});
  return variant;
}

model::ProblemRecord problem_of(std::int64_t session, std::int64_t number) {
  constexpr const char* kOps[] = {"copy", "read", "write", "triad", "rmsnorm"};
  model::ProblemRecord record;
  record.session = session;
  record.op = kOps[number % 5];
  record.spec_hash = "0123456789abcdef0123456789abcdef";
  record.problem.op = record.op;
  record.problem.dims = {{"M", 16 * (number + 1)}, {"N", 4096}};
  record.problem.types = {{"scalar_t", "bf16"}};
  record.default_variant = variant_of(0);
  record.cost.bytes_read = (number + 1) * 65536 * (number % 5 == 2 ? 0 : 1);
  record.cost.bytes_written = (number + 1) * 65536 * (number % 5 == 1 ? 0 : 1);
  record.enumerated = kVariants + 1200;
  record.rejected = {{"each thread needs at least one element", 1200}};
  return record;
}

model::TrialRecord trial_of(const model::ProblemRecord& problem, std::int64_t number) {
  model::TrialRecord trial;
  trial.session = problem.session;
  trial.problem = problem.id;
  trial.op = problem.op;
  trial.problem_text = problem.problem.text();
  trial.variant = variant_of(number);
  trial.is_default = number == 0;
  trial.fingerprint = fmt::format("{:032x}", problem.id * 1000 + number);
  for (const char* part : {"spec", "source", "variant", "problem", "device", "driver", "toolkit", "seed", "timer"})
    trial.fingerprint_parts[part] = trial.fingerprint;
  trial.resources = {{problem.op, {64, 1024, 0, 0, 0}}};
  trial.date = "2026-11-29T14:03:05Z";
  if (number % 10 == 9) {
    trial.outcome = model::Outcome::kWrongResult;
    trial.reason = "y: 12 of 4096 elements differ, first at [3, 17]: 0.5, expected 0.25";
    return trial;
  }
  trial.timing.time_us = 5.0 + static_cast<double>(problem.cost.bytes()) / 4e6 + 0.01 * static_cast<double>(number);
  trial.timing.n = 100;
  trial.samples.time_us.assign(100, trial.timing.time_us);
  return trial;
}

void fill(const std::string& path, std::int64_t problems) {
  Store store(path, Store::Mode::kWrite);
  for (std::int64_t session = 0, trials = 0; trials < kTrials; ++session) {
    const std::int64_t id = store.add_session(session_of(session));
    for (std::int64_t i = 0; i < problems; ++i, trials += kVariants) {
      model::ProblemRecord problem = problem_of(id, i);
      problem.id = store.add_problem(problem);
      store.in_one_transaction([&] {
        for (std::int64_t number = 0; number < kVariants; ++number) store.add_trial(trial_of(problem, number));
        for (std::int64_t number = 0; number < 8; ++number) {
          model::TrialRecord final_trial = trial_of(problem, number);
          final_trial.is_final = true;
          store.add_trial(final_trial);
        }
      });
    }
  }
}

/// Databases of this run, made when first asked for and removed at its end.
class Databases {
 public:
  Databases() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ktune-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    folder_ = pattern;
  }
  ~Databases() { std::filesystem::remove_all(folder_); }
  Databases(const Databases&) = delete;
  Databases& operator=(const Databases&) = delete;

  /// kTrials trials, `problems` problems a session.
  std::string path(std::int64_t problems) {
    const std::string path = (folder_ / fmt::format("{}.db", problems)).string();
    if (!std::filesystem::exists(path)) fill(path, problems);
    return path;
  }

 private:
  std::filesystem::path folder_;
};

std::string database(std::int64_t problems) {
  static Databases databases;
  return databases.path(problems);
}

void report_winners(benchmark::State& state) {
  const std::string path = database(state.range(0));
  std::size_t rows = 0;
  for (auto _ : state) {
    Store store(path, Store::Mode::kRead);
    const report::Report report = report::make_report(store.load_latest({}), false);
    const std::string text = find_format(report::formats(), "term").print(report, 120, false);
    benchmark::DoNotOptimize(text.data());
    rows = report.rows.size();
  }
  state.counters["rows"] = static_cast<double>(rows);
}
BENCHMARK(report_winners)->Arg(20)->Arg(1000)->Unit(benchmark::kMillisecond);

void find_trial(benchmark::State& state) {
  Store store(database(1000), Store::Mode::kRead);
  std::int64_t number = 0;
  for (auto _ : state) benchmark::DoNotOptimize(store.find_trial(fmt::format("{:032x}", 1000 * (++number % 1000 + 1))));
}
BENCHMARK(find_trial)->Unit(benchmark::kMicrosecond);

void add_trial(benchmark::State& state) {
  Store store(database(1000), Store::Mode::kWrite);
  model::ProblemRecord problem = problem_of(store.add_session(session_of(0)), 0);
  problem.id = store.add_problem(problem);
  std::int64_t number = 0;
  for (auto _ : state) store.add_trial(trial_of(problem, ++number));
}
BENCHMARK(add_trial)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ktune::cli
