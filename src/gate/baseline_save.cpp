#include "gate/baseline_save.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <tuple>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "gate/baseline_file.h"
#include "gate/controlled_kernels.h"
#include "gate/reference.h"
#include "gate/tree_kernels.h"
#include "measure/measure.h"
#include "model/json.h"
#include "spec/spec.h"
#include "store/store.h"

namespace ktune::gate {

namespace fs = std::filesystem;

namespace {

/// The file's bytes; "" where there is none.
std::string state_of(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error) ? read_file(path) : std::string();
}

void check_file(const BaselineSaveOptions& options) {
  const fs::path path = options.run.baseline;
  std::error_code error;
  if (fs::exists(path, error) && !options.force && !options.add)
    throw Error(ErrorKind::kUsage, fmt::format("{} exists", path.string()),
                "--add adds kernels to it, --force replaces it and its history; `ktune baseline accept` takes a run's "
                "new levels");
  const std::string old = options.force ? state_of(path.string()) : std::string();
  if (!old.empty() && old.find(fmt::format("\"{}", verdict::kBaselineFamily)) == std::string::npos)
    throw Error(ErrorKind::kUsage, fmt::format("{} is no baseline: --force does not replace it", path.string()),
                "name another file, or remove it");
  if (!fs::is_directory(fs::absolute(path).parent_path(), error))
    throw Error(ErrorKind::kUsage, fmt::format("the folder of {} does not exist", path.string()),
                fmt::format("mkdir -p {}", fs::path(path).parent_path().string()));
}

/// Ops as a gate takes them: of the nearest tree with configs/ops, each where none is named; without a tree those that
/// come with ktune.
sweep::Selection selected(const BaselineSaveOptions& options) {
  sweep::Selection selection = options.run.selection;
  const bool all = selection.ops.empty() && selection.configs.empty() && selection.plans.empty();
  const fs::path root = ops_root(selection, {});
  std::error_code error;
  if (fs::equivalent(root, resource_root(), error)) {
    if (all) selection.ops = spec::shipped_ops();
    return selection;
  }
  const auto file_of = [&](const std::string& op) { return root / "configs" / "ops" / (op + ".toml"); };
  std::erase_if(selection.ops, [&](const std::string& op) {
    if (!fs::exists(file_of(op), error)) return false;
    selection.configs.push_back(file_of(op).string());
    return true;
  });
  if (all)
    for (const fs::path& spec : specs_in(root)) selection.configs.push_back(spec.string());
  return selection;
}

void check_options(const BaselineSaveOptions& options) {
  check_file(options);
  sweep::check_selection(options.run.selection);
}

/// A baseline is JSON, and JSON is UTF-8. Said before anything is timed.
void check_name(const std::string& path) {
  try {
    static_cast<void>(model::Json(path).dump());
  } catch (const model::Json::exception&) {
    throw Error(ErrorKind::kUsage, fmt::format("{} is no UTF-8: a baseline cannot name it", path), "rename it");
  }
}

struct SavedKernels {
  std::vector<verdict::BaselineKernel> kernels;
  std::vector<ControlledItem> items;
};

SavedKernels choose_kernels(const BaselineSaveOptions& options, const std::vector<sweep::Work>& works,
                            TreeKernels& tree, const verdict::Baseline& present, const model::DeviceFacts& facts) {
  const auto winners = sweep::winners_of(options.variant, options.database, facts.name);
  sweep::StandIns stand_ins;
  SavedKernels saved;
  for (const sweep::Work& work : works)
    for (const model::Problem& problem : work.problems) {
      ControlledItem item;
      const sweep::SharedProblem prepared = tree.prepare(*work.full, problem);
      const sweep::ChosenVariant chosen = sweep::choose_variant(options.variant, *prepared, winners);
      stand_ins.add(*prepared, chosen);
      item.kernel = {prepared, chosen.variant};
      item.control = tree.control_of(*prepared, winners);
      item.tree_commit = tree.commit_of(*work.full);
      verdict::BaselineKernel kernel;
      kernel.op = work.full->name;
      kernel.problem = item.kernel.prepared->problem;
      kernel.variant = item.kernel.variant.text();
      std::tie(kernel.root, kernel.spec) = tree.spec_name(*work.full);
      kernel.source = display_source(work.full->source_path);
      for (const std::string& name : {kernel.spec, kernel.source}) check_name(name);
      kernel.control.problem = item.control.prepared->problem;
      kernel.control.variant = item.control.variant.text();
      const auto same = [&](const verdict::BaselineKernel& other) { return other.name() == kernel.name(); };
      if (std::any_of(present.kernels.begin(), present.kernels.end(), same) ||
          std::any_of(saved.kernels.begin(), saved.kernels.end(), same))
        continue;
      saved.kernels.push_back(std::move(kernel));
      saved.items.push_back(std::move(item));
    }
  for (const std::string& note : stand_ins.notes()) options.run.notices.say("note: " + note);
  if (saved.kernels.empty()) throw Error(ErrorKind::kNoData, "the baseline has all of these kernels already");
  return saved;
}

void stop_on_failures(const SavedKernels& saved, const ControlledKernels& timed) {
  std::vector<std::string> failures;
  for (std::size_t i = 0; i < saved.kernels.size(); ++i)
    if (const auto& failure = timed.measured()[i].failure)
      failures.push_back(
          fmt::format("{}: {}: {}", saved.kernels[i].name(), name_of(failure->outcome), failure->reason));
  if (!failures.empty())
    throw Error(ErrorKind::kNo, "no baseline of kernels that fail: " + join(failures, "\n  "),
                "leave them out, or `ktune run` one to see why");
}

void fill_histories(SavedKernels& saved, const ControlledKernels& timed) {
  const std::string date = utc_now();
  for (std::size_t i = 0; i < saved.kernels.size(); ++i) {
    const verdict::StoredMeasurement& measured = timed.measured()[i];
    const auto entry = verdict::entry_of(measured.processes, date, measured.tree_commit);
    if (!entry)
      throw Error(ErrorKind::kEnvironment,
                  fmt::format("{}: more than a fifth of its processes were disturbed (throttled, or a worker died)",
                              saved.kernels[i].name()),
                  "try again when the device is cool and nothing else runs on it");
    verdict::BaselineKernel& kernel = saved.kernels[i];
    if (const auto timer = timed.timer(i)) kernel.timer = name_of(*timer);
    kernel.code_hash = measured.code_hash;
    kernel.control.code_hash = measured.control_code_hash;
    kernel.history = {*entry};
  }
}

}  // namespace

void save_baseline_run(const BaselineSaveOptions& asked) {
  BaselineSaveOptions options = asked;
  StoredGateOptions& run = options.run;
  run.selection = selected(options);
  check_options(options);
  const model::CacheState cache = sweep::cache_state_of(run.cache.empty() ? "cold" : run.cache);
  const model::DeviceFacts facts = sweep::device_facts(run.device, run.notices);
  const auto processes = run.open_processes(facts, process_options(run, facts, cache));
  processes->check_timer(run.timer);
  verdict::Baseline baseline;
  baseline.key = verdict::key_of(facts, name_of(cache), measure::kMeasurementProtocol);
  const std::string before = state_of(run.baseline);
  std::error_code error;
  if (options.add && fs::exists(run.baseline, error)) {
    const verdict::BaselineKey here = baseline.key;
    baseline = load_baseline(run.baseline);
    check_key(baseline, run.baseline, here);
  }
  const std::vector<sweep::Work> works = sweep::resolve_selection(run.selection, facts.kind == "cpu" ? "cpu" : "bench");
  TreeKernels tree(fs::absolute(run.baseline).parent_path(), run.selection.configs, facts, run.provenance.commit);
  SavedKernels saved = choose_kernels(options, works, tree, baseline, facts);
  ControlledKernels timed(saved.items, *processes, run.notices);
  stop_on_failures(saved, timed);
  std::vector<std::size_t> all(saved.items.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  timed.time(all, run.processes, run.seed, false);
  stop_on_failures(saved, timed);
  fill_histories(saved, timed);
  for (verdict::BaselineKernel& kernel : saved.kernels) baseline.kernels.push_back(std::move(kernel));
  const BaselineLock lock(run.baseline);
  if (!options.force && state_of(run.baseline) != before)
    throw Error(ErrorKind::kEnvironment,
                fmt::format("{} was changed while kernels were timed: it stays as it is", run.baseline), "save again");
  save_baseline(baseline, run.baseline);
}

}  // namespace ktune::gate
