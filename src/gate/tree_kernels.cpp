#include "gate/tree_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "base/git.h"
#include "spec/spec.h"
#include "sweep/variant_choice.h"

namespace ktune::gate {

namespace fs = std::filesystem;

namespace {

constexpr const char* kControlOp = "copy";
constexpr std::int64_t kTile = 16384;             // elements, of every variant of the copy
constexpr std::int64_t kLeastElements = 1 << 18;  // 1 MiB each way
constexpr std::int64_t kF32 = 4;
constexpr const char* kOps = "configs/ops";

bool is_shipped(const std::string& op) {
  const std::vector<std::string> names = spec::shipped_ops();
  return std::find(names.begin(), names.end(), op) != names.end();
}

bool is_shipped_spec(const model::OpSpec& spec) {
  std::error_code error;
  return is_shipped(spec.name) && fs::equivalent(spec::load_shipped_op(spec.name).spec_path, spec.spec_path, error);
}

bool is_same(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error);
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

std::vector<std::string> shapes_of(const model::Problem& problem) {
  return {shape_text(problem), named_shape_text(problem)};
}

/// What is asked for and is not there must not be passed over. `names`: what a kernel may be asked for by.
template <typename Names>
void check_named(const char* option, const std::vector<std::string>& values, const verdict::Baseline& baseline,
                 const Names& names) {
  for (const std::string& value : values)
    if (std::none_of(baseline.kernels.begin(), baseline.kernels.end(),
                     [&](const verdict::BaselineKernel& kernel) { return one_of({value}, names(kernel)); }))
      throw Error(ErrorKind::kNoData, fmt::format("{} {}: the baseline has none", option, value),
                  "`ktune baseline show` lists its kernels");
}

}  // namespace

TreeKernels::TreeKernels(fs::path folder, const std::vector<std::string>& configs, model::DeviceFacts facts,
                         std::string own_commit)
    : folder_(fs::absolute(folder)), facts_(std::move(facts)), own_commit_(std::move(own_commit)) {
  for (const std::string& config : configs) {
    model::OpSpec spec = spec::load_op(config);
    configs_[spec.name] = std::move(spec);
  }
}

std::pair<verdict::SpecRoot, std::string> TreeKernels::spec_name(const model::OpSpec& spec) const {
  check_here(spec.name, spec.spec_path);
  if (is_shipped_spec(spec)) {
    return {verdict::SpecRoot::kKtune, fs::proximate(spec.spec_path, resource_root()).generic_string()};
  }
  if (const auto top = repository_of(spec.spec_path))
    return {verdict::SpecRoot::kRepository, fs::proximate(spec.spec_path, *top).generic_string()};
  return {verdict::SpecRoot::kFolder, fs::proximate(spec.spec_path, folder_).generic_string()};
}

void TreeKernels::check_here(const std::string& op, const fs::path& path) const {
  const fs::path here = fs::current_path();
  const auto top = repository_of(here);
  const auto own = repository_of(path);
  if (is_within(path, resource_root() / kOps)) {
    // Ktune's ops go with any repository, but for one that has the op itself, and for another checkout of ktune.
    if (!top || is_within(path, *top)) return;
    if (!fs::exists(*top / kOps / path.filename()) && !fs::exists(*top / kOps / fmt::format("{}.toml", kControlOp)))
      return;
    throw Error(ErrorKind::kUsage,
                fmt::format("{} would be ktune's, {}, not that of the tree that the current directory is in ({})", op,
                            path.string(), top->string()),
                "name that tree's file with --config, or set KTUNE_ROOT to the tree");
  }
  const bool agrees =
      top || own ? top && own && is_same(*top, *own) : is_within(path, here) || is_within(folder_, here);
  if (agrees) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("{} would be {}, which is not of the tree that the current directory is in ({})", op,
                          path.string(), top.value_or(here).string()),
              "run it in the tree whose kernels are meant; `ktune gate --config FILE.toml` names an op's file");
}

std::optional<fs::path> TreeKernels::path_of(const verdict::BaselineKernel& kernel) const {
  std::error_code error;
  if (kernel.root == verdict::SpecRoot::kKtune) {
    if (!is_shipped(kernel.op)) return std::nullopt;
    return fs::path(spec::load_shipped_op(kernel.op).spec_path);
  }
  std::vector<fs::path> roots{folder_};
  if (kernel.root == verdict::SpecRoot::kRepository) {
    // The baseline's own repository is looked at only to say that it is another one.
    roots = {repository_of(fs::current_path()).value_or(fs::current_path())};
    if (const auto top = repository_of(folder_)) roots.push_back(*top);
  }
  for (const fs::path& root : roots)
    if (fs::exists(root / kernel.spec, error)) return (root / kernel.spec).lexically_normal();
  return std::nullopt;
}

const model::OpSpec* TreeKernels::shipped_of(const std::string& op) {
  if (const auto at = configs_.find(op); at != configs_.end()) return &at->second;
  if (!is_shipped(op)) return nullptr;
  model::OpSpec spec = spec::load_shipped_op(op);
  return &specs_.try_emplace(spec.spec_path, spec).first->second;
}

const model::OpSpec* TreeKernels::spec_of(const verdict::BaselineKernel& kernel,
                                          std::optional<model::Failure>& broken) {
  if (const auto at = configs_.find(kernel.op); at != configs_.end()) return &at->second;
  const auto path = path_of(kernel);
  if (!path) return nullptr;
  check_here(kernel.op, *path);
  auto at = specs_.find(path->string());
  try {
    if (at == specs_.end()) at = specs_.emplace(path->string(), spec::load_op(path->string())).first;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUsage) throw;
    broken = model::Failure{model::Outcome::kCompileFailed, error.message(), error.where()};
    return nullptr;
  }
  return at->second.name == kernel.op ? &at->second : nullptr;
}

const sweep::Work& TreeKernels::work_of(const model::OpSpec& spec) {
  sweep::Work& work = work_[spec.spec_path];
  if (!work.full) work.spec = work.full = std::make_shared<const model::OpSpec>(spec);
  return work;
}

std::string TreeKernels::commit_of(const model::OpSpec& spec) {
  const auto [at, added] = commits_.try_emplace(spec.spec_path);
  if (!added) return at->second;
  const fs::path path = fs::absolute(spec.spec_path);
  const auto top = repository_of(path);
  const bool shipped = is_shipped_spec(spec);
  const auto asked = [&](const std::vector<std::string>& words) -> std::optional<std::string> {
    try {
      return git(*top, words);
    } catch (const Error&) {  // no git here: nothing to name
      return std::nullopt;
    }
  };
  // An installed ktune may lie in somebody's repository, whose commit says nothing of ktune's files.
  if (top && (!shipped || asked({"ls-files", "--error-unmatch", "--", path.string()})))
    at->second = asked({"describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"}).value_or("");
  else if (shipped)
    at->second = own_commit_;
  return at->second;
}

sweep::SharedProblem TreeKernels::prepare(const model::OpSpec& spec, const model::Problem& problem) {
  const sweep::Work& work = work_of(spec);
  const model::Problem complete = spec::complete_problem(*work.full, problem);
  auto& prepared = prepared_[spec.spec_path + '\n' + complete.text()];
  if (!prepared) prepared = sweep::prepare_unswept(work, complete, facts_, sweep::Options{}.seed);
  return prepared;
}

sweep::KernelRequest TreeKernels::request(const model::OpSpec& spec, const model::Problem& problem,
                                          const std::string& variant) {
  const sweep::SharedProblem prepared = prepare(spec, problem);
  return {prepared, sweep::named_variant(*prepared, variant)};
}

sweep::KernelRequest TreeKernels::control_of(const sweep::PreparedProblem& kernel,
                                             std::span<const model::ProblemRecord> winners) {
  const std::int64_t elements = kernel.cost.bytes() / 2 / kF32;
  const std::int64_t tiles = std::max((elements + kTile / 2) / kTile, kLeastElements / kTile);
  const model::OpSpec* copy = shipped_of(kControlOp);
  if (copy == nullptr)
    throw Error(ErrorKind::kUsage, "the tree has no op copy, which the stored gate's controls are",
                "it comes with ktune: see configs/ops, or $KTUNE_ROOT");
  spec::ProblemRequest wanted;
  wanted.shapes = {std::to_string(tiles * kTile)};
  wanted.dtypes = {"f32"};
  const model::Problem problem = spec::select_problems(*copy, wanted).front();
  const auto distance = [&](const model::ProblemRecord& winner) {
    const double size = static_cast<double>(winner.problem.dims.front().second);
    return std::abs(std::log(size / static_cast<double>(tiles * kTile)));
  };
  const model::ProblemRecord* nearest = nullptr;
  for (const model::ProblemRecord& winner : winners)
    if (winner.op == kControlOp && winner.problem.dtype() == "f32" && winner.problem.dims.size() == 1 &&
        (nearest == nullptr || distance(winner) < distance(*nearest)))
      nearest = &winner;
  if (nearest == nullptr) return request(*copy, problem, "");
  try {
    return request(*copy, problem, nearest->winner.text());
  } catch (const Error&) {  // the space of this size, or of the copy as it is now, does not have it
    return request(*copy, problem, "");
  }
}

ControlledItem TreeKernels::find(const verdict::BaselineKernel& kernel) {
  ControlledItem item;
  item.timer = model::parse_timer(kernel.timer);
  const model::OpSpec* spec = spec_of(kernel, item.failure);
  const model::OpSpec* control = shipped_of(kernel.control.problem.op);
  if (item.failure) return item;
  if (spec == nullptr) {
    item.missing = kernel.root == verdict::SpecRoot::kKtune
                       ? fmt::format("ktune no longer has the op {}", kernel.op)
                       : fmt::format("the op {} is no longer at {}", kernel.op, kernel.spec);
    return item;
  }
  item.tree_commit = commit_of(*spec);
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

std::vector<verdict::BaselineKernel> select_kernels(const verdict::Baseline& baseline,
                                                    const sweep::Selection& selection) {
  std::vector<std::string> ops = selection.ops;
  for (const std::string& config : selection.configs) ops.push_back(spec::load_op(config).name);
  check_named("--op", selection.ops, baseline,
              [](const verdict::BaselineKernel& kernel) { return std::vector{kernel.op}; });
  check_named("--shape", selection.shapes, baseline,
              [](const verdict::BaselineKernel& kernel) { return shapes_of(kernel.problem); });
  std::vector<verdict::BaselineKernel> kernels;
  for (const verdict::BaselineKernel& kernel : baseline.kernels) {
    const model::Problem& problem = kernel.problem;
    const bool attrs = std::all_of(selection.attrs.begin(), selection.attrs.end(),
                                   [&](const std::string& text) { return has_attr(problem, text); });
    if (one_of(ops, {kernel.op}) && one_of(selection.dtypes, {problem.dtype()}) && attrs &&
        one_of(selection.shapes, shapes_of(problem)))
      kernels.push_back(kernel);
  }
  if (kernels.empty())
    throw Error(ErrorKind::kNoData, "none of the baseline's kernels is selected",
                "`ktune baseline show` lists them; without --op, --shape, --dtype and --attr all are compared");
  return kernels;
}

std::string display_source(const std::string& path) {
  const fs::path full = fs::absolute(path);
  const auto top = repository_of(full);
  if (is_within(full, resource_root())) return fs::proximate(full, resource_root()).generic_string();
  return (top ? fs::proximate(full, *top) : fs::proximate(full)).generic_string();
}

}  // namespace ktune::gate
