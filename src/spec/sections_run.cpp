#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "spec/sections.h"

namespace ktune::spec {
namespace {

struct InitRow {
  const char* name;
  model::InitKind kind;
  int arguments;
  bool required;
};
constexpr InitRow kInits[] = {
    {"normal", model::InitKind::kNormal, 2, false},    {"uniform", model::InitKind::kUniform, 2, false},
    {"zeros", model::InitKind::kZeros, 0, false},      {"ones", model::InitKind::kOnes, 0, false},
    {"constant", model::InitKind::kConstant, 1, true}, {"randint", model::InitKind::kRandint, 2, true},
    {"zero_row", model::InitKind::kZeroRow, 0, false}, {"special", model::InitKind::kSpecial, 0, false},
};

double init_number(const Text& text, std::string_view digits) {
  digits = trim(digits);
  double value = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) {
    fail(text, fmt::format("'{}' in init '{}' is not a number", digits, text.text));
  }
  return value;
}

void read_extent(Fields& fields, const std::string& key, std::vector<model::Expression>& extent) {
  extent = fields.expressions(key);
  if (extent.size() > 3) fail(extent[3], fmt::format("{}: '{}' has at most 3 sizes", fields.title(), key));
}

model::LaunchSpec read_launch(Fields& fields) {
  model::LaunchSpec launch;
  const Text kernel = fields.text("kernel");
  check_identifier(kernel, "kernel");
  launch.kernel = kernel.text;
  launch.args = fields.expressions("args");
  read_extent(fields, "grid", launch.grid);
  if (launch.grid.empty()) fields.missing("grid");
  read_extent(fields, "block", launch.block);
  read_extent(fields, "cluster", launch.cluster);
  launch.smem = fields.expression_if("smem").value_or(Text{"0", kernel.at});
  launch.when = fields.expression_if("when");
  launch.pdl = fields.flag_if("pdl").value_or(false);
  return launch;
}

}  // namespace

model::InitSpec parse_init(const Text& text) {
  const std::size_t open = text.text.find('(');
  const std::string name(trim(std::string_view(text.text).substr(0, open)));
  std::vector<std::string> known;
  for (const InitRow& row : kInits) known.emplace_back(row.name);
  const auto* row =
      std::find_if(std::begin(kInits), std::end(kInits), [&](const InitRow& r) { return name == r.name; });
  if (row == std::end(kInits)) {
    fail(text, fmt::format("unknown init '{}'{}", name, did_you_mean(name, known)),
         fmt::format("inits: {}", join(known, ", ")));
  }
  std::vector<std::string> arguments;
  if (open != std::string::npos) {
    const std::string_view inner = trim(std::string_view(text.text).substr(open + 1));
    if (!inner.ends_with(')')) fail(text, fmt::format("init '{}' lacks its ')'", text.text));
    arguments = split(inner.substr(0, inner.size() - 1), ',');
  }
  const int count = static_cast<int>(arguments.size());
  if (count != row->arguments && (row->required || count != 0)) {
    fail(text, fmt::format("init {} takes {} numbers{}, not {}", name, row->arguments, row->required ? "" : " or none",
                           count));
  }
  model::InitSpec init;
  init.kind = row->kind;
  if (count > 0) init.a = init_number(text, arguments[0]);
  if (count > 1) init.b = init_number(text, arguments[1]);
  const bool range = row->kind == model::InitKind::kUniform || row->kind == model::InitKind::kRandint;
  if (range && !(init.a < init.b)) fail(text, fmt::format("init '{}' is an empty range", text.text));
  return init;
}

void read_launches(Fields& root, model::OpSpec& spec) {
  for (Fields& fields : root.tables("launch")) {
    spec.launches.push_back(read_launch(fields));
    if (spec.launches.back().block.empty()) fields.missing("block");
    if (!fields.has("args")) fields.missing("args");
    fields.finish();
  }
  if (spec.launches.empty()) root.missing("launch");
}

void read_reference(Fields& root, model::OpSpec& spec) {
  auto reference = root.table_if("reference");
  if (!reference) root.missing("reference", "results are checked against [[reference.launch]]");
  for (Fields& fields : reference->tables("launch")) {
    model::LaunchSpec launch = read_launch(fields);
    if (!fields.has("args")) launch.args = spec.launches.front().args;
    if (launch.block.empty()) launch.block = {{"256", launch.grid[0].at}};
    fields.finish();
    spec.reference.push_back(std::move(launch));
  }
  reference->finish();
  if (spec.reference.empty()) reference->missing("launch");
}

void check_output(const model::OpSpec& spec, const Text& name) {
  const model::TensorSpec* tensor = find_named(spec.tensors, name.text);
  if (tensor == nullptr) {
    fail(name, fmt::format("there is no tensor '{}'{}", name.text, did_you_mean(name.text, names_of(spec.tensors))));
  }
  if (tensor->role != model::Role::kOut && tensor->role != model::Role::kInOut) {
    fail(name, fmt::format("tensor '{}' is not an output", name.text));
  }
}

void read_verify(Fields& root, model::OpSpec& spec) {
  spec.verify.reduction = {"1", {}};
  auto verify = root.table_if("verify");
  if (!verify) return;
  if (const auto reduction = verify->expression_if("reduction")) spec.verify.reduction = *reduction;
  const auto read_outputs = [&](const char* key, std::vector<std::string>& names) {
    if (!verify->has(key)) return;
    for (const Text& name : verify->texts(key)) {
      check_output(spec, name);
      names.push_back(name.text);
    }
  };
  read_outputs("sums", spec.verify.sums);
  read_outputs("trivial", spec.verify.trivial);
  spec.verify.nondeterministic = verify->flag_if("nondeterministic").value_or(false);
  for (Fields& fields : verify->tables("tolerance")) {
    const Text name = fields.text("tensor");
    check_output(spec, name);
    const auto rtol = fields.number_if("rtol");
    const auto atol = fields.number_if("atol");
    if (!rtol && !atol) fields.missing("rtol");
    const model::Tolerance tolerance{rtol.value_or(0.0), atol.value_or(0.0)};
    if (!(tolerance.rtol >= 0.0) || !(tolerance.atol >= 0.0)) fail(name, "a tolerance is not negative");
    if (tolerance.rtol > 1.0 || !std::isfinite(tolerance.atol)) fail(name, "a tolerance this wide accepts anything");
    fields.finish();
    spec.verify.tolerances.emplace_back(name.text, tolerance);
  }
  verify->finish();
}

void read_cost(Fields& root, model::OpSpec& spec) {
  auto cost = root.table_if("cost");
  if (!cost) root.missing("cost", "[cost] reads and writes: the least traffic, in bytes");
  spec.cost.reads = cost->expression("reads");
  spec.cost.writes = cost->expression("writes");
  spec.cost.scratch = cost->expression_if("scratch").value_or(Text{"0", {}});
  spec.cost.flops = cost->expression_if("flops").value_or(Text{"0", {}});
  cost->finish();
}

}  // namespace ktune::spec
