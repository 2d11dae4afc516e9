#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "spec/located.h"
#include "spec/sections.h"
#include "spec/spec.h"

// A plan over ops and problems:
//
//   [[run]]
//   op = "rmsnorm"                            # or config = "path/to/my_op.toml", relative to the plan
//   shapes = ["4096x4096", "M=17,N=1000"]     # absent: the spec's problems for `use`
//   use = "sweep"
//   dtypes = ["bf16", "scalar_t=f16,weight_t=f32"]
//   params = { num_warps = [4, 8] }
//   attrs = { cast_mode = "gemma" }
//   weight = 2.0                              # times the weight of each problem

namespace ktune::spec {
namespace {

std::vector<std::string> strings(const std::vector<Text>& texts) {
  std::vector<std::string> result;
  for (const Text& text : texts) result.push_back(text.text);
  return result;
}

model::OpSpec read_spec(Fields& run, const Document& document) {
  const auto op = run.text_if("op");
  const auto config = run.text_if("config");
  if (!op && !config) run.missing("op", "or config = \"path/to/op.toml\"");
  if (op && config) fail(*config, "[[run]] has both 'op' and 'config'");
  if (op) return located(*op, [&] { return load_shipped_op(op->text); });
  const auto path = std::filesystem::path(document.path()).parent_path() / config->text;
  return located(*config, [&] { return load_op(path.string()); });
}

model::OpSpec read_params(Fields& run, model::OpSpec spec) {
  auto params = run.table_if("params");
  if (!params) return spec;
  for (const Text& name : params->keys()) {
    std::vector<std::string> values;
    for (const Item& item : params->items(name.text)) values.push_back(item.text.text);
    if (values.empty()) fail(name, fmt::format("parameter '{}' is left no value", name.text));
    spec = located(name, [&] { return narrow(spec, {fmt::format("{}={}", name.text, join(values, ","))}); });
  }
  return spec;
}

PlanEntry read_run(Fields& run, const Document& document) {
  PlanEntry entry;
  entry.spec = read_params(run, read_spec(run, document));
  ProblemRequest request;
  request.shapes = strings(run.texts("shapes"));
  request.dtypes = strings(run.texts("dtypes"));
  const auto use = run.text_if("use");
  if (use) request.use = use->text;
  if (use && !request.shapes.empty()) fail(*use, "[[run]] has both 'shapes' and 'use'");
  if (auto attrs = run.table_if("attrs")) {
    for (const Text& name : attrs->keys()) request.attrs.emplace_back(name.text, attrs->item_if(name.text)->text.text);
  }
  const double weight = run.number_if("weight").value_or(1.0);
  if (!(weight > 0.0)) fail(run.at(), "a weight is above 0");
  run.finish();
  entry.problems = located(run.at(), [&] { return select_problems(entry.spec, request); });
  for (model::Problem& problem : entry.problems) problem.weight *= weight;
  return entry;
}

}  // namespace

std::vector<PlanEntry> load_plan(const std::string& path) {
  const Document document(std::filesystem::absolute(path).lexically_normal().string());
  Fields root(document, document.root(), "");
  std::vector<PlanEntry> plan;
  for (Fields& run : root.tables("run")) plan.push_back(read_run(run, document));
  if (plan.empty()) root.missing("run");
  root.text_if("summary");
  root.finish();
  return plan;
}

}  // namespace ktune::spec
