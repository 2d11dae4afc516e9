#include "verdict/gbench.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "model/json.h"
#include "stats/stats.h"
#include "verdict/lines.h"
#include "verdict/print.h"

// Google Benchmark's JSON: a process is a repetition. What its readers ask for shapes it:
// - compare.py pairs two files by name, so the name is that of `ktune bench` and holds no variant, and takes real_time,
//   cpu_time and time_unit of each entry; its U test runs over the repetitions of both times and fails where all are
//   the same number, so cpu_time, which a kernel has none of, repeats real_time.
// - Bencher refuses the file where context.caches is missing or a real_time is no number, so a process without a time
//   is left out. A candidate that is WRONG has no process: it is an entry as the library writes one for an error,
//   error_occurred and times of 0, since a benchmark that is absent would look as if nobody had asked for it.
// - github-action-benchmark shows name, real_time, time_unit, iterations, cpu_time and threads as they stand.

namespace ktune::verdict {

using model::Json;

namespace {

Json context_of(const Result& result, const std::string& side, const std::string& commit) {
  Json caches = Json::array();
  if (result.device.l2_bytes > 0)
    caches.push_back(
        {{"type", "Unified"}, {"level", 2}, {"size", result.device.l2_bytes}, {"num_sharing", result.device.sm_count}});
  Json context{{"date", result.date},
               {"host_name", result.device.name},
               {"executable", "ktune gate"},
               {"num_cpus", result.device.sm_count},
               {"mhz_per_cpu", 0},
               {"cpu_scaling_enabled", false},
               {"caches", caches},
               {"load_avg", Json::array()},
               {"library_build_type", "release"},
               {"ktune_revision", side},
               {"ktune_commit", commit}};
  for (const auto& [what, value] : provenance_of(result)) {
    if (what == "driver" || what == "toolkit" || what == "command") context["ktune_" + what] = value;
  }
  return context;
}

/// The fields of a run and of an aggregate up to where they differ.
Json entry(const std::string& name, const std::string& run, std::size_t family, const char* type,
           std::size_t repetitions) {
  return {{"name", name},    {"family_index", family}, {"per_family_instance_index", 0},
          {"run_name", run}, {"run_type", type},       {"repetitions", repetitions}};
}

Json with_times(Json json, std::size_t iterations, double value) {
  json["iterations"] = iterations;
  json["real_time"] = value;
  json["cpu_time"] = value;
  json["time_unit"] = "us";
  return json;
}

void add_row(Json& benchmarks, const std::string& name, std::size_t family, const std::vector<double>& times,
             const std::string& label) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    Json run = entry(name, name, family, "iteration", times.size());
    run["repetition_index"] = i;
    run["threads"] = 1;
    run = with_times(std::move(run), 1, times[i]);
    if (!label.empty()) run["label"] = label;
    benchmarks.push_back(std::move(run));
  }
  if (times.size() < 2) return;
  const double mean = stats::mean(times), deviation = stats::standard_deviation(times);
  const std::pair<const char*, double> aggregates[] = {
      {"mean", mean}, {"median", stats::median(times)}, {"stddev", deviation}, {"cv", deviation / mean}};
  for (const auto& [aggregate, value] : aggregates) {
    Json json = entry(name + "_" + aggregate, name, family, "aggregate", times.size());
    json["threads"] = 1;
    json["aggregate_name"] = aggregate;
    json["aggregate_unit"] = std::string(aggregate) == "cv" ? "percentage" : "time";
    benchmarks.push_back(with_times(std::move(json), times.size(), value));
  }
}

void add_error(Json& benchmarks, const std::string& name, std::size_t family, const Row& row) {
  Json run = entry(name, name, family, "iteration", 1);
  run["repetition_index"] = 0;
  run["threads"] = 1;
  run["error_occurred"] = true;
  run["error_message"] = row.reason;
  run = with_times(std::move(run), 0, 0.0);
  if (!row.candidate_variant.empty()) run["label"] = row.candidate_variant;
  benchmarks.push_back(std::move(run));
}

/// As `ktune bench` labels its benchmarks.
std::string label_of(const std::string& variant, const std::string& timer) {
  if (variant.empty() || timer.empty()) return variant;
  return variant + " timer=" + timer;
}

/// What the baseline asks of each process of a stored gate: its level, the ratio to the control, times that process'
/// control. So the two files are as far apart as the gate says. Empty where the gate says nothing.
std::vector<double> expected_times(const Row& row) {
  std::vector<double> logs;
  const std::size_t processes = std::min(row.base_figures_us.size(), row.candidate_figures_us.size());
  for (std::size_t i = 0; i < processes; ++i) {
    const double ratio = row.candidate_figures_us[i] / row.base_figures_us[i];
    if (std::isfinite(ratio) && ratio > 0.0) logs.push_back(std::log(ratio));
  }
  std::vector<double> times;
  if (logs.empty() || !std::isfinite(row.shift_pct)) return times;
  const double level = std::exp(stats::hodges_lehmann(logs)) / (1.0 + row.shift_pct / 100.0);
  for (const double control : row.base_figures_us) times.push_back(level * control);
  return times;
}

std::vector<double> times_of(const Result& result, const Row& row, bool base) {
  if (!base) return row.candidate_figures_us;
  return result.mode == Mode::kStored ? expected_times(row) : row.base_figures_us;
}

std::string print_side(const Result& result, bool base) {
  Json benchmarks = Json::array();
  std::map<std::string, int> seen;  // two variants of one problem: the second is "…#2", in both files
  std::size_t family = 0;
  for (const Row& row : result.rows) {
    std::string name = benchmark_name(row.op, row.problem) + "/manual_time";
    if (const int count = ++seen[name]; count > 1) name += "#" + std::to_string(count);
    std::vector<double> times = times_of(result, row, base);
    std::erase_if(times, [](double time) { return !std::isfinite(time); });
    const double single = base ? row.base_us : row.candidate_us;
    if (times.empty() && std::isfinite(single)) times.push_back(single);
    if (!base && times.empty() && row.verdict == Verdict::kWrong) add_error(benchmarks, name, family, row);
    add_row(benchmarks, name, family++, times, label_of(base ? row.base_variant : row.candidate_variant, row.timer));
  }
  const Json json{{"context", context_of(result, base ? result.base : result.candidate,
                                         base ? result.base_commit : result.candidate_commit)},
                  {"benchmarks", benchmarks}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string benchmark_name(const std::string& op, const std::string& problem) {
  std::string name = op + "/";
  for (const char c : problem) name += c == ' ' ? '/' : c == '=' ? ':' : c;
  return name;
}

/// Google Benchmark's JSON of the candidate's figures, and of base's.
std::string print_google_benchmark(const Result& result, int, bool) { return print_side(result, false); }
std::string print_google_benchmark_base(const Result& result, int, bool) { return print_side(result, true); }

}  // namespace ktune::verdict
