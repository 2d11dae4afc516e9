#include "sweep/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "device/device.h"
#include "spec/spec.h"
#include "trial/worker.h"

namespace ktune::sweep {

namespace {

std::vector<std::pair<std::string, std::string>> parse_attrs(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> attrs;
  for (const std::string& text : texts) {
    const auto at = text.find('=');
    if (at == std::string::npos || at == 0)
      throw Error(ErrorKind::kUsage, fmt::format("--attr {}: expected NAME=VALUE", text),
                  "for example --attr cast_mode=gemma");
    attrs.emplace_back(text.substr(0, at), text.substr(at + 1));
  }
  return attrs;
}

}  // namespace

spec::ProblemRequest request_of(const Selection& selection, const std::string& use) {
  spec::ProblemRequest request;
  request.shapes = selection.shapes;
  request.dtypes = selection.dtypes;
  request.attrs = parse_attrs(selection.attrs);
  request.use = use;
  return request;
}

std::string use_of(const model::OpSpec& spec, const std::string& use) {
  const auto is_for = [&](const model::ProblemSpec& problem) {
    return std::find(problem.use.begin(), problem.use.end(), use) != problem.use.end();
  };
  return use == "bench" && std::none_of(spec.problems.begin(), spec.problems.end(), is_for) ? "sweep" : use;
}

namespace {

std::shared_ptr<const model::OpSpec> shared(model::OpSpec spec) {
  return std::make_shared<const model::OpSpec>(std::move(spec));
}

Work make_work(const Selection& selection, const model::OpSpec& full, const std::string& use) {
  Work work;
  work.full = shared(full);
  work.spec = shared(spec::narrow(full, selection.params));
  work.problems = spec::select_problems(full, request_of(selection, use_of(full, use)));
  if (work.problems.empty())
    throw Error(ErrorKind::kUsage, fmt::format("{}: no problem to work on", full.name),
                fmt::format("give --shape, or add a [[problem]] with use = [\"{}\"] to {}", use, full.spec_path));
  return work;
}

Error no_op_named() {
  return Error(ErrorKind::kUsage, "no op named",
               "give --op NAME (`ktune ops` lists them) or --config FILE.toml for an op of your own");
}

}  // namespace

void check_selection(const Selection& selection) {
  std::vector<model::OpSpec> specs;
  for (const std::string& op : selection.ops) specs.push_back(spec::load_shipped_op(op));
  for (const std::string& config : selection.configs) specs.push_back(spec::load_op(config));
  for (const model::OpSpec& spec : specs) {
    spec::narrow(spec, selection.params);
    if (!selection.shapes.empty()) spec::select_problems(spec, request_of(selection, ""));
  }
  for (const std::string& plan : selection.plans) spec::load_plan(plan);
  if (specs.empty() && selection.plans.empty()) throw no_op_named();
}

std::vector<Work> resolve_selection(const Selection& selection, const std::string& use) {
  std::vector<Work> work;
  for (const std::string& op : selection.ops) work.push_back(make_work(selection, spec::load_shipped_op(op), use));
  for (const std::string& config : selection.configs) work.push_back(make_work(selection, spec::load_op(config), use));
  for (const std::string& plan : selection.plans)
    for (spec::PlanEntry& entry : spec::load_plan(plan)) {
      Work item;
      item.full = shared(spec::load_op(entry.spec.spec_path));
      item.spec = shared(spec::narrow(std::move(entry.spec), selection.params));
      item.problems = std::move(entry.problems);
      work.push_back(std::move(item));
    }
  if (work.empty()) throw no_op_named();
  return work;
}

model::DeviceFacts device_facts(std::string& device, const Notices& notices) {
  device = device::resolve_device_name(device);
  trial::Worker worker(device);
  model::DeviceFacts facts = worker.facts();
  if (facts.spec_gbps <= 0.0)  // a virtual machine may hide the clock
    if (const auto peak = spec::peak_of(spec::device_peaks(), facts.name)) facts.spec_gbps = peak->gbps;
  if (facts.mig == 1)
    notices.say(fmt::format(
        "note      {} is a MIG slice: its neighbours share its clocks and power, and it has no DRAM counters",
        facts.name));
  if (const int others = worker.state().other_processes; others > 0)
    notices.say(fmt::format("warning   {} other process{} on {}: times will be noisy", others,
                            others == 1 ? " is computing" : "es are computing", facts.name));
  return facts;
}

void require_timer(const model::TimerRequest& timer, const model::Status& there) {
  if (there) return;
  throw Error(ErrorKind::kEnvironment,
              fmt::format("the timer {} cannot be used here: {}", name_of(timer), there.error().reason),
              "`ktune doctor --selftest` tries them all; --timer auto takes what works");
}

void check_timer(const std::string& device, const model::TimerRequest& timer) {
  if (timer.is_auto()) return;
  require_timer(timer, trial::Worker(device).check_timer(*timer.named));
}

model::CacheState cache_state_of(const std::string& name) {
  if (const auto state = model::parse_cache_state(name)) return *state;
  const std::vector<std::string> known{"cold", "dirty", "warm"};
  throw Error(ErrorKind::kUsage, fmt::format("unknown cache state '{}'{}", name, did_you_mean(name, known)),
              "one of cold, dirty, warm");
}

std::string sweep_use(const model::DeviceFacts& facts) { return facts.kind == "cpu" ? "cpu" : "sweep"; }

}  // namespace ktune::sweep
