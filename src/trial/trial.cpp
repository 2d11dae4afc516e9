#include "trial/trial.h"

#include <utility>

namespace ktune::trial {

void set_failure(model::TrialRecord& record, const model::Failure& failure) {
  record.outcome = failure.outcome;
  record.reason = failure.reason;
  record.detail = failure.detail;
  record.transient = failure.transient;
}

void set_measured(model::TrialRecord& record, measure::Measurement measurement) {
  record.outcome = model::Outcome::kMeasured;
  record.samples = std::move(measurement.samples);
  record.timing = measure::summarize(record.samples);
  record.before = measurement.before;
  record.after = measurement.after;
  record.warnings = std::move(measurement.warnings);
}

bool load_and_verify(Bench& bench, std::int64_t id, const model::VariantPlan& plan, const model::KernelBinary& binary,
                     model::TrialRecord& record) {
  record.binary_key = binary.key;
  record.resources = binary.resources;
  record.compile_ms = binary.compile_ms;
  if (const model::Status loaded = bench.load(id, plan, binary); !loaded) {
    set_failure(record, loaded.error());
    return false;
  }
  const model::Result<verify::Verification> report = bench.verify(id);
  if (!report) {
    set_failure(record, report.error());
  } else {
    record.verify_margin = report->margin;
    if (report->ok) return true;
    set_failure(record, {model::Outcome::kWrongResult, report->reason, {}});
  }
  bench.unload(id);
  return false;
}

}  // namespace ktune::trial
