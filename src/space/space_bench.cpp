// The target: enumerating a space whose raw product is 10^8, with ten constraints and 20,000 valid points, in under
// 2 seconds.

#include <benchmark/benchmark.h>

#include "space/bench_space.h"
#include "space/space.h"

namespace ktune::space {
namespace {

void enumerate_1e8_points(benchmark::State& state) {
  const model::OpSpec spec = bench_space();
  const expr::Scope scope = bench_scope();
  for (auto _ : state) {
    const Space space = enumerate(spec, scope);
    benchmark::DoNotOptimize(space.size());
    state.counters["points"] = static_cast<double>(space.enumerated());
    state.counters["valid"] = static_cast<double>(space.size());
  }
}
BENCHMARK(enumerate_1e8_points)->Unit(benchmark::kMillisecond);

/// The worst order: every constraint needs the last axis, so that nothing is pruned on the way down.
void enumerate_1e8_points_without_pruning(benchmark::State& state) {
  model::OpSpec spec = bench_space();
  for (model::Constraint& constraint : spec.constraints) constraint.expr.text += " && MIN_BLOCKS >= 0";
  for (model::Constraint& constraint : spec.constraints) {
    constraint.expr.text = "(" + constraint.expr.text + ")";
  }
  const expr::Scope scope = bench_scope();
  for (auto _ : state) {
    const Space space = enumerate(spec, scope);
    benchmark::DoNotOptimize(space.size());
    state.counters["valid"] = static_cast<double>(space.size());
  }
}
BENCHMARK(enumerate_1e8_points_without_pruning)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ktune::space
