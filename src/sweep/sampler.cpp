#include "sweep/sampler.h"

#include "trial/trial.h"

namespace ktune::sweep {

bool Sampler::load(search::VariantId id, const model::KernelBinary& binary, model::TrialRecord& record) {
  const auto plan = recipes_.plan(id);
  if (!plan) {
    trial::set_failure(record, plan.error());
    return false;
  }
  const double start_s = context_.budget.now();
  const bool loaded = trial::load_and_verify(context_.bench, id, *plan, binary, record);
  if (loaded) cost_.add_load(context_.budget.now() - start_s);
  return loaded;
}

model::Result<measure::Measurement> Sampler::sample(search::VariantId id, const model::KernelBinary& binary,
                                                    int samples, model::TrialRecord& record) {
  if (!context_.bench.is_loaded(id) && !load(id, binary, record))
    return model::fail(record.outcome, record.reason, record.detail);
  measure::Request request;
  request.cache_state = context_.options.cache_state;
  request.timer = timer_.timer();
  request.samples = samples;
  const double start_s = context_.budget.now();
  auto report = context_.bench.measure(id, request);
  if (report) {
    cost_.add_call(context_.budget.now() - start_s, samples, report->cost_us);
  } else {
    trial::set_failure(record, report.error());
    unload(id);
  }
  return report;
}

}  // namespace ktune::sweep
