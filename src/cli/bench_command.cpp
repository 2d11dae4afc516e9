#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/number_in.h"
#include "cli/options.h"
#include "cli/stderr_notices.h"
#include "cli/timer_option.h"
#include "model/json.h"
#include "probe/bench_runner.h"
#include "spec/spec.h"
#include "sweep/variant_choice.h"
#include "verdict/gbench.h"

// Kernels under Google Benchmark itself: whoever has its flags in their fingers, or a tool that reads its output, finds
// what they know. What an iteration is stays ktune's (bench_runner.h).

namespace ktune::cli {

namespace {

struct BenchOptions {
  sweep::Selection selection;
  sweep::ProcessOptions process;
  std::string cache = "cold";
  std::string variant = "winner";
  std::string db;
  std::vector<std::string> flags;  ///< what follows --
  model::Provenance provenance;
};

/// Google Benchmark's own (1.7); newer versions have more, which are passed on unseen.
constexpr std::array kFlags{"--benchmark_list_tests",
                            "--benchmark_filter",
                            "--benchmark_min_time",
                            "--benchmark_repetitions",
                            "--benchmark_enable_random_interleaving",
                            "--benchmark_report_aggregates_only",
                            "--benchmark_display_aggregates_only",
                            "--benchmark_format",
                            "--benchmark_out",
                            "--benchmark_out_format",
                            "--benchmark_color",
                            "--benchmark_counters_tabular",
                            "--benchmark_perf_counters",
                            "--benchmark_context",
                            "--benchmark_time_unit"};

class KernelFinder {
 public:
  KernelFinder(const BenchOptions& options, const model::DeviceFacts& facts)
      : options_(options), choice_(sweep::parse_variant_choice(options.variant)), facts_(facts) {
    winners_ = sweep::winners_of(choice_, db_path(options.db), facts.name);
  }

  std::vector<sweep::KernelRequest> find() {
    for (const std::string& op : options_.selection.ops) add(spec::load_shipped_op(op));
    for (const std::string& config : options_.selection.configs) add(spec::load_op(config));
    if (found_.empty()) throw Error(ErrorKind::kNoData, "nothing to run: no problem is selected", "give --shape");
    for (const std::string& note : stand_ins_.notes()) print_log("note      {}\n", note);
    return std::move(found_);
  }

 private:
  /// With --shape those; else what has a winner; else the spec's own.
  std::vector<model::Problem> problems_of(const model::OpSpec& spec) const {
    const sweep::Selection& selection = options_.selection;
    std::vector<model::Problem> problems;
    if (!selection.shapes.empty()) return spec::select_problems(spec, sweep::request_of(selection, ""));
    const auto wanted = [&](const std::string& dtype) {
      return selection.dtypes.empty() ||
             std::find(selection.dtypes.begin(), selection.dtypes.end(), dtype) != selection.dtypes.end();
    };
    for (const model::ProblemRecord& record : winners_)
      if (record.op == spec.name && wanted(record.problem.dtype())) problems.push_back(record.problem);
    return problems.empty() ? spec::select_problems(spec, sweep::request_of(selection, sweep::sweep_use(facts_)))
                            : problems;
  }

  void add(model::OpSpec spec) {
    const auto full = std::make_shared<const model::OpSpec>(std::move(spec));
    for (const model::Problem& problem : problems_of(*full)) {
      const auto prepared = sweep::prepare_unswept({full, full, {}}, spec::complete_problem(*full, problem), facts_,
                                                   sweep::Options{}.seed);
      const sweep::ChosenVariant chosen = sweep::choose_variant(choice_, *prepared, winners_);
      stand_ins_.add(*prepared, chosen);
      found_.push_back({prepared, chosen.variant});
    }
  }

  const BenchOptions& options_;
  sweep::VariantChoice choice_;
  const model::DeviceFacts& facts_;
  std::vector<model::ProblemRecord> winners_;
  sweep::StandIns stand_ins_;
  std::vector<sweep::KernelRequest> found_;
};

/// What Google Benchmark would take, print its usage for and end as if all were well, or crash on.
void check_value(const std::string& flag) {
  const std::size_t at = flag.find('=');
  if (at == std::string::npos) return;
  const std::string name = flag.substr(0, at), value = flag.substr(at + 1);
  const auto refuse = [&](const char* what) {
    throw Error(ErrorKind::kUsage, fmt::format("{} cannot be '{}'", name, value), what);
  };
  const auto is_number_from = [&](double least) {
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    return !value.empty() && *end == '\0' && number >= least && number <= 1e9;
  };
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), value) != names.end();
  };
  if ((name == "--benchmark_format" || name == "--benchmark_out_format") && !is_one_of({"console", "json", "csv"}))
    refuse("console, json or csv");
  if (name == "--benchmark_time_unit" && !is_one_of({"ns", "us", "ms", "s"})) refuse("ns, us, ms or s");
  if (name == "--benchmark_repetitions" &&
      (!is_number_from(1.0) || value.find_first_not_of("0123456789") != value.npos))
    refuse("how often each benchmark runs: 1 or more");
  if (name == "--benchmark_min_time" && !is_number_from(1e-9))
    refuse("seconds as a plain number: --benchmark_min_time=0.02");
}

/// $BENCHMARK_FORMAT=json and the like, which the library takes for flags.
std::vector<std::string> flags_of_environment() {
  std::vector<std::string> flags;
  for (const char* flag : kFlags) {
    std::string name = flag + 2;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    if (const char* value = std::getenv(name.c_str())) flags.push_back(fmt::format("{}={}", flag, value));
  }
  return flags;
}

/// The library does not look whether what it writes arrives.
void check_written(const std::string& path) {
  if (path.empty() || !std::filesystem::is_regular_file(path)) return;
  const std::string text(trim(read_file(path)));
  if (text.empty() || (text.front() == '{' && !model::Json::accept(text)))
    throw Error(ErrorKind::kEnvironment, fmt::format("{} could not be written", path), "is the disk full?");
}

/// The library would end the process in words of its own, when everything is compiled and verified.
std::string check_out(const std::vector<std::string>& flags) {
  constexpr std::string_view kName = "--benchmark_out=";
  const char* of_environment = std::getenv("BENCHMARK_OUT");
  std::string path = of_environment == nullptr ? "" : of_environment;
  for (const std::string& flag : flags)
    if (flag.starts_with(kName)) path = flag.substr(kName.size());
  if (path.empty()) return path;
  const std::filesystem::path file(path), folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code ignored;
  const bool exists = std::filesystem::exists(file, ignored);
  int why = std::filesystem::is_directory(file, ignored) ? EISDIR : 0;
  if (why == 0 && access(exists ? file.c_str() : folder.c_str(), exists ? W_OK : W_OK | X_OK) != 0) why = errno;
  if (why == 0 && !exists && !std::filesystem::is_directory(folder, ignored)) why = ENOTDIR;
  if (why != 0)
    throw Error(ErrorKind::kEnvironment, fmt::format("{} cannot be written: {}", path, std::strerror(why)),
                "--benchmark_out takes a file in a folder that exists");
  if (exists && !std::filesystem::is_regular_file(file, ignored))
    throw Error(ErrorKind::kUsage, fmt::format("{} is no file that would tell whether it was written", path),
                "--benchmark_format writes to stdout");
  return path;
}

/// Why Google Benchmark left a flag over: it does not know it, or cannot read its value.
Error flag_error(const CLI::App& app, const std::string& flag) {
  const std::size_t at = flag.find('=');
  const std::string name = flag.substr(0, at);
  const bool known_name = std::find(kFlags.begin(), kFlags.end(), name) != kFlags.end();
  if (known_name && at != std::string::npos)
    return {ErrorKind::kUsage, fmt::format("{} cannot be '{}'", name, flag.substr(at + 1)),
            name == "--benchmark_min_time" ? "seconds as a plain number: --benchmark_min_time=0.02"
                                           : "see Google Benchmark's user guide for what it takes"};
  std::vector<std::string> known(kFlags.begin(), kFlags.end());
  for (const CLI::Option* option : app.get_options())
    for (const std::string& long_name : option->get_lnames()) known.push_back("--" + long_name);
  return {ErrorKind::kUsage,
          known_name ? name + " has no value" : fmt::format("unknown option '{}'{}", flag, did_you_mean(name, known)),
          "see `ktune bench --help`; Google Benchmark's flags take their value after '=': --benchmark_filter=REGEX"};
}

/// Hands Google Benchmark its flags. Throws Error(kUsage) for what is neither its nor ktune's.
void initialize(const CLI::App& app, const std::vector<std::string>& flags) {
  // Google Benchmark keeps a pointer to the first word.
  static std::vector<std::string> words;
  // A sample costs more than its own time: an eviction, a launch. Half a second of kernel time would be minutes.
  words = {"ktune bench", "--benchmark_min_time=0.02"};
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<char*> argv;
  for (const std::string& flag : flags_of_environment()) check_value(flag);
  for (std::string& word : words) {
    check_value(word);
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  benchmark::Initialize(&argc, argv.data());
  if (argc > 1) throw flag_error(app, argv[1]);
}

void describe(const model::DeviceFacts& facts, const BenchOptions& options) {
  // Which timer auto takes is known kernel by kernel: it stands in the labels.
  const model::TimerRequest& asked = options.process.timer;
  const std::array<std::pair<const char*, std::string>, 7> context{
      {{"device", facts.name},
       {"driver", facts.driver},
       {"toolkit", facts.toolkit},
       {"cache", options.cache},
       {"timer", asked.is_auto() ? "" : std::string(name_of(asked))},
       {"ktune", options.provenance.version},
       {"ktune_commit", options.provenance.commit}}};
  for (const auto& [what, value] : context)
    if (!value.empty()) benchmark::AddCustomContext(what, value);
}

int run_bench(const CLI::App& app, BenchOptions& options) {
  std::vector<std::string> flags = app.remaining();
  std::erase(flags, "--");
  flags.insert(flags.end(), options.flags.begin(), options.flags.end());
  initialize(app, flags);
  options.process.cache_state = sweep::cache_state_of(options.cache);
  sweep::check_selection(options.selection);
  sweep::parse_variant_choice(options.variant);  // a typing mistake is told before a device is opened
  const std::string out = check_out(flags);
  const model::DeviceFacts facts = sweep::device_facts(options.process.device, stderr_notices());
  const std::vector<sweep::KernelRequest> kernels = KernelFinder(options, facts).find();
  options.process.say = [](const std::string& text) { print_log("note      {}\n", text); };
  const Notices notices = stderr_notices();
  probe::BenchRunner runner(facts, options.process, notices);
  describe(facts, options);
  for (const sweep::KernelRequest& request : kernels)
    benchmark::RegisterBenchmark(
        verdict::benchmark_name(request.prepared->spec->name, request.prepared->problem.text()).c_str(),
        [&runner, &request](benchmark::State& state) { runner.run(state, request); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  const std::size_t matched = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  runner.rethrow();
  check_written(out);
  if (interrupted()) throw Error(ErrorKind::kInterrupted, "interrupted; not everything was run");
  if (matched == 0)
    throw Error(ErrorKind::kNoData, "no benchmark matches the filter", "--benchmark_list_tests=true lists their names");
  return runner.failures() == 0 ? 0 : 1;
}

}  // namespace

std::function<int()> setup_bench(CLI::App& app, const model::Provenance& provenance) {
  auto options = std::make_shared<BenchOptions>();
  options->provenance = provenance;
  options->process.device = "auto";
  add_problems(app, options->selection);
  add_device_option(app, options->process.device);
  add_db_option(app, options->db);
  add_variant_option(app, options->variant);
  app.add_option("--cache", options->cache, "State of L2 at each timed launch: cold, dirty, warm")
      ->capture_default_str();
  add_timer_option(app, options->process.timer);
  app.add_option("--trial-deadline", options->process.trial_deadline_s, "Seconds after which a worker is killed")
      ->capture_default_str()
      ->check(number_in(0.1, 1e6));
  app.add_option("flags", options->flags, "Google Benchmark's own, after --");
  app.allow_extras();
  app.footer(
      "Google Benchmark's own flags (--benchmark_filter=REGEX, --benchmark_repetitions=N, "
      "--benchmark_format=json,\n--benchmark_out=FILE, …) are passed on to it, with or without -- before them.\n"
      "A label names the variant and the timer that ran. \"Library was built as DEBUG\" is said of Google Benchmark's "
      "own\n"
      "library, as Debian ships it: an iteration is timed by ktune, outside of it.\n\n" +
      app.get_footer());
  return [&app, options] { return run_bench(app, *options); };
}

}  // namespace ktune::cli
