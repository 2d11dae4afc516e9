// Every op in configs/ops, each of its problems, on a GPU's and a host's facts: the space enumerates, accounts for
// every point and holds the default. Here, since spec and space do not know each other.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "expr/resolve.h"
#include "space/space.h"
#include "spec/spec.h"

namespace ktune {
namespace {

/// Compute capability × 10; 0: the host.
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

std::vector<model::Problem> problems_of(const model::OpSpec& spec, const std::set<std::string>& uses) {
  std::vector<model::Problem> problems;
  for (const std::string& use : uses) {
    spec::ProblemRequest request;
    request.use = use;
    const std::vector<model::Problem> selected = spec::select_problems(spec, request);
    problems.insert(problems.end(), selected.begin(), selected.end());
  }
  return problems;
}

std::set<std::string> uses_of(const model::OpSpec& spec) {
  std::set<std::string> uses;
  for (const model::ProblemSpec& entry : spec.problems) uses.insert(entry.use.begin(), entry.use.end());
  return uses;
}

/// A few variants of a space, ends included.
std::vector<model::Variant> sampled(const space::Space& space) {
  std::vector<model::Variant> sample;
  const std::int64_t step = std::max<std::int64_t>(1, space.size() / 7);
  for (std::int64_t id = 0; id < space.size(); id += step) sample.push_back(space.variant(id));
  if (!space.empty()) sample.push_back(space.variant(space.size() - 1));
  return sample;
}

void check_space(const model::OpSpec& spec, const model::Problem& problem, const model::DeviceFacts& facts) {
  SCOPED_TRACE(spec.name + " " + problem.text() + " sm " + std::to_string(facts.sm));
  try {
    const expr::Scope scope = expr::problem_scope(spec, problem, facts);
    const space::Space space = space::enumerate(spec, scope);
    std::int64_t accounted = space.size();
    for (const auto& [why, count] : space.rejected()) accounted += count;
    EXPECT_EQ(accounted, space.enumerated());
    const model::Variant variant = expr::default_variant(spec, scope);
    EXPECT_TRUE(space.find(variant).has_value()) << variant.text() << " is not in its space";
    for (const model::Variant& one : sampled(space)) {
      EXPECT_EQ(space::explain(spec, scope, one), std::nullopt) << one.text();
      EXPECT_FALSE(expr::require_variant(spec, problem, scope, one).launches.empty());
    }
  } catch (const Error& error) {
    ADD_FAILURE() << format_error(error);
  }
}

TEST(ShippedSpaces, EnumerateForEveryProblemWithTheDefaultInside) {
  for (const std::string& name : spec::shipped_ops()) {
    const model::OpSpec spec = spec::load_shipped_op(name);
    for (const model::Problem& problem : problems_of(spec, uses_of(spec))) {
      check_space(spec, problem, device(90));
      check_space(spec, problem, device(0));
    }
  }
}

}  // namespace
}  // namespace ktune
