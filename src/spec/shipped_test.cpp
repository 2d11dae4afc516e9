// Every op in configs/ops: it parses, and each of its problems enumerates with a default inside its space. A new op is
// covered the moment its file exists. The space itself is tested in src/space.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "expr/resolve.h"
#include "model/facts.h"
#include "spec/spec.h"

namespace ktune::spec {
namespace {

model::DeviceFacts device(int sm) {
  model::DeviceFacts facts;
  facts.sm = sm;
  facts.sm_count = sm > 0 ? 132 : 2;
  facts.l2_bytes = 62914560;
  facts.smem_optin = 232448;
  facts.registers_per_sm = 65536;
  facts.memory_bytes = 150'000'000'000;
  return facts;
}

std::vector<model::Problem> problems_for(const model::OpSpec& spec, const std::string& use) {
  ProblemRequest request;
  request.use = use;
  return select_problems(spec, request);
}

std::vector<model::Problem> all_problems(const model::OpSpec& spec) {
  std::set<std::string> uses;
  for (const model::ProblemSpec& entry : spec.problems) uses.insert(entry.use.begin(), entry.use.end());
  std::vector<model::Problem> problems;
  for (const std::string& use : uses) {
    for (model::Problem& problem : problems_for(spec, use)) problems.push_back(std::move(problem));
  }
  return problems;
}

void check_problem(const model::OpSpec& spec, const model::Problem& problem, const model::DeviceFacts& facts) {
  SCOPED_TRACE(spec.name + " " + problem.text());
  try {
    const expr::Scope scope = expr::problem_scope(spec, problem, facts);
    const model::Variant variant = expr::default_variant(spec, scope);
    EXPECT_EQ(variant.values.size(), spec.params.size());
    const model::ProblemPlan plan = expr::resolve_problem(spec, problem, scope, facts, 1);
    EXPECT_FALSE(plan.reference.empty());
    EXPECT_FALSE(expr::require_variant(spec, problem, scope, variant).launches.empty());
    const model::Cost cost = expr::resolve_cost(spec, scope);
    EXPECT_GT(cost.bytes(), 0);
    EXPECT_FALSE(expr::macros_of(spec, problem, variant).empty());
  } catch (const Error& error) {
    ADD_FAILURE() << format_error(error);
  }
}

TEST(ShippedOps, LoadAndResolveEachOfTheirProblems) {
  const std::vector<std::string> ops = shipped_ops();
  const auto folder = resource_root() / "configs" / "ops";
  if (ops.empty()) {
    ASSERT_TRUE(std::filesystem::is_empty(folder));
    GTEST_SKIP() << "configs/ops is empty";
  }
  for (const std::string& name : ops) {
    SCOPED_TRACE(name);
    model::OpSpec spec;
    try {
      spec = load_shipped_op(name);
    } catch (const Error& error) {
      ADD_FAILURE() << format_error(error);
      continue;
    }
    EXPECT_EQ(spec.name, name);
    EXPECT_FALSE(spec.summary.empty());
    const std::vector<model::Problem> problems = all_problems(spec);
    EXPECT_FALSE(problems.empty());
    for (const model::Problem& problem : problems) {
      check_problem(spec, problem, device(90));
      check_problem(spec, problem, device(0));
    }
  }
}

TEST(ShippedOps, HaveProblemsForSweepsForTheHostAndForVerification) {
  for (const std::string& name : shipped_ops()) {
    const model::OpSpec spec = load_shipped_op(name);
    for (const char* use : {"sweep", "cpu", "verify"}) {
      EXPECT_FALSE(problems_for(spec, use).empty()) << name << " " << use;
    }
  }
}

}  // namespace
}  // namespace ktune::spec
