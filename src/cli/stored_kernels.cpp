#include "cli/stored_kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "space/space.h"
#include "spec/spec.h"

namespace ktune::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* kControlOp = "copy";
constexpr std::int64_t kTile = 16384;             // elements, of every variant of the copy
constexpr std::int64_t kLeastElements = 1 << 18;  // 1 MiB each way
constexpr std::int64_t kF32 = 4;
constexpr double kGitSeconds = 30.0;

bool is_shipped(const std::string& op) {
  const std::vector<std::string> names = spec::shipped_ops();
  return std::find(names.begin(), names.end(), op) != names.end();
}

/// "4096x4096"
std::string shape_text(const model::Problem& problem) {
  std::string text;
  for (const auto& [name, size] : problem.dims) text += fmt::format("{}{}", text.empty() ? "" : "x", size);
  return text;
}

/// "M=4096,N=4096"
std::string named_shape_text(const model::Problem& problem) {
  std::string text;
  for (const auto& [name, size] : problem.dims) text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, size);
  return text;
}

bool one_of(const std::vector<std::string>& wanted, const std::vector<std::string>& names) {
  if (wanted.empty()) return true;
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  });
}

bool has_attr(const model::Problem& problem, const std::string& text) {
  return std::any_of(problem.attrs.begin(), problem.attrs.end(),
                     [&](const auto& attr) { return attr.first + "=" + attr.second.text() == text; });
}

}  // namespace

TreeKernels::TreeKernels(fs::path folder, const std::vector<std::string>& configs, model::DeviceFacts facts)
    : folder_(fs::absolute(folder)), facts_(std::move(facts)) {
  for (const std::string& config : configs) {
    model::OpSpec spec = spec::load_op(config);
    configs_[spec.name] = std::move(spec);
  }
}

std::string TreeKernels::spec_name(const model::OpSpec& spec) const {
  std::error_code error;
  if (is_shipped(spec.name) && fs::equivalent(spec::load_shipped_op(spec.name).spec_path, spec.spec_path, error))
    return {};
  return fs::proximate(spec.spec_path, folder_).string();
}

const model::OpSpec* TreeKernels::spec_of(const std::string& op, const std::string& name) {
  if (const auto at = configs_.find(op); at != configs_.end()) return &at->second;
  const std::string key = op + '\n' + name;
  if (const auto at = specs_.find(key); at != specs_.end()) return &at->second;
  if (name.empty()) {
    if (!is_shipped(op)) return nullptr;
    return &specs_.emplace(key, spec::load_shipped_op(op)).first->second;
  }
  const fs::path path = folder_ / name;
  std::error_code error;
  if (!fs::exists(path, error)) return nullptr;
  model::OpSpec spec = spec::load_op(path.string());
  return spec.name == op ? &specs_.emplace(key, std::move(spec)).first->second : nullptr;
}

const sweep::Work& TreeKernels::work_of(const model::OpSpec& spec) {
  auto& work = work_[spec.spec_path];
  if (!work) {
    work = std::make_unique<sweep::Work>();
    work->spec = work->full = spec;
    if (!spec_name(spec).empty()) own_folder_ = fs::path(spec.spec_path).parent_path();
  }
  return *work;
}

std::string TreeKernels::commit() const {
  const fs::path folder = own_folder_.empty() ? resource_root() : own_folder_;
  try {
    const CommandResult result = run_command(
        {"git", "-C", folder.string(), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"}, kGitSeconds);
    if (!result.timed_out && result.status.code == 0) return std::string(trim(result.out));
  } catch (const Error&) {  // no git here: nothing to name
  }
  return {};
}

sweep::KernelRequest TreeKernels::request(const model::OpSpec& spec, const model::Problem& problem,
                                          const std::string& variant) {
  const sweep::Work& work = work_of(spec);
  const model::Problem complete = spec::complete_problem(work.full, problem);
  auto& prepared = prepared_[spec.spec_path + '\n' + complete.text()];
  if (!prepared)
    prepared =
        std::make_unique<sweep::PreparedProblem>(sweep::prepare_unswept(work, complete, facts_, sweep::Options{}.seed));
  sweep::KernelRequest request{prepared.get(), prepared->default_variant};
  if (!variant.empty()) request.variant = spec::parse_variant(work.full, variant, prepared->default_variant);
  if (const auto why = space::explain(work.full, prepared->scope, request.variant))
    throw Error(ErrorKind::kUsage, fmt::format("{} is not in its space: {}", request.variant.text(), *why));
  return request;
}

sweep::KernelRequest TreeKernels::control_of(const sweep::PreparedProblem& kernel) {
  const std::int64_t elements = kernel.cost.bytes() / 2 / kF32;
  const std::int64_t tiles = std::max((elements + kTile / 2) / kTile, kLeastElements / kTile);
  const model::OpSpec* copy = spec_of(kControlOp, "");
  if (copy == nullptr)
    throw Error(ErrorKind::kUsage, "the tree has no op copy, which the stored gate's controls are",
                "it comes with ktune: see configs/ops, or $KTUNE_ROOT");
  spec::ProblemRequest wanted;
  wanted.shapes = {std::to_string(tiles * kTile)};
  wanted.dtypes = {"f32"};
  return request(*copy, spec::select_problems(*copy, wanted).front(), "");
}

ControlledItem TreeKernels::find(const gate::BaselineKernel& kernel) {
  ControlledItem item;
  item.timer = kernel.timer;
  const model::OpSpec* spec = spec_of(kernel.op, kernel.spec);
  const model::OpSpec* control = spec_of(kernel.control.problem.op, "");
  if (spec == nullptr) {
    item.missing = kernel.spec.empty() ? fmt::format("the tree no longer has the op {}", kernel.op)
                                       : fmt::format("the op {} is no longer at {}", kernel.op, kernel.spec);
    return item;
  }
  if (control == nullptr) {
    item.missing = fmt::format("the tree no longer has the op {} of its control", kernel.control.problem.op);
    return item;
  }
  try {
    item.kernel = request(*spec, kernel.problem, kernel.variant);
  } catch (const Error& error) {
    item.missing = "the op no longer has it: " + error.message();
    return item;
  }
  // The text names every parameter and attribute: where it reads otherwise now, it is another kernel.
  if (item.kernel.prepared->plan.problem != kernel.problem.text() || item.kernel.variant.text() != kernel.variant) {
    item.missing = fmt::format("the op no longer has it: it would be {} [{}] now", item.kernel.prepared->plan.problem,
                               item.kernel.variant.text());
    return item;
  }
  try {
    item.control = request(*control, kernel.control.problem, kernel.control.variant);
  } catch (const Error& error) {
    item.missing = "its control is gone: " + error.message();
  }
  return item;
}

std::vector<gate::BaselineKernel> select_kernels(const gate::Baseline& baseline, const Selection& selection) {
  std::vector<std::string> ops = selection.ops;
  for (const std::string& config : selection.configs) ops.push_back(spec::load_op(config).name);
  std::vector<gate::BaselineKernel> kernels;
  for (const gate::BaselineKernel& kernel : baseline.kernels) {
    const model::Problem& problem = kernel.problem;
    const bool attrs = std::all_of(selection.attrs.begin(), selection.attrs.end(),
                                   [&](const std::string& text) { return has_attr(problem, text); });
    if (one_of(ops, {kernel.op}) && one_of(selection.dtypes, {problem.dtype()}) && attrs &&
        one_of(selection.shapes, {shape_text(problem), named_shape_text(problem)}))
      kernels.push_back(kernel);
  }
  if (kernels.empty())
    throw Error(ErrorKind::kNoData, "none of the baseline's kernels is selected",
                "`ktune baseline show` lists them; without --op, --shape, --dtype and --attr all are compared");
  return kernels;
}

std::string display_source(const std::string& path) {
  const std::string relative = fs::path(path).lexically_proximate(resource_root()).string();
  return relative.rfind("..", 0) == 0 ? fs::proximate(path).string() : relative;
}

}  // namespace ktune::cli
