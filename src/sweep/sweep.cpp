#include "sweep/sweep.h"

#include <fmt/format.h>

#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "sweep/loop.h"
#include "trial/build.h"
#include "trial/device_lock.h"

namespace ktune::sweep {

Summary run(const std::vector<SharedProblem>& problems, const model::DeviceFacts& facts, store::Store& store,
            const Options& options, const Observer& observer) {
  compile::CompilePool pool(compile::binaries_dir(), options.jobs);
  trial::Worker worker(options.device, options.trial_deadline_s);
  worker.wait_for_device(
      [&observer](const std::string& text) {
        if (observer.message) observer.message(text);
      },
      trial::kDeviceWaitS);
  Context context{facts, store, options, observer, pool, worker, 0, now_s()};

  model::SessionRecord session;
  session.date = utc_now();
  session.command = options.provenance.command;
  session.version = options.provenance.version;
  session.commit = options.provenance.commit;
  session.device = facts;
  context.session = store.add_session(session);

  Summary summary;
  summary.session = context.session;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (interrupted() || context.out_of_budget()) {
      summary.not_visited += problems[i]->space.size() + problems[i]->space.not_enumerated();
      continue;
    }
    Exploration exploration(context, *problems[i], i, problems.size());
    const model::ProblemRecord record = exploration.run();
    summary.trials += exploration.trials_run();
    summary.reused += record.reused;
    summary.not_visited += record.not_visited;
    if (!exploration.failure().empty())
      summary.failed_problems.push_back(
          fmt::format("{} {}: {}", record.op, record.problem.text(), exploration.failure()));
  }
  summary.interrupted = interrupted();
  summary.out_of_budget = context.out_of_budget() && summary.not_visited > 0;
  if (!summary.interrupted) store.complete_session(context.session);
  summary.seconds = now_s() - context.start_s;
  return summary;
}

std::int64_t count_reusable(const PreparedProblem& prepared, const model::DeviceFacts& facts, store::Store& store,
                            const Options& options) {
  std::int64_t count = 0;
  model::TimerRequest timer = options.timer;
  if (auto_decides(facts, options)) {
    const auto before = timer_decided_before(prepared, facts, store, options);
    if (!before) return 0;  // the default is to be measured, and what it decides is not known
    timer = *before;
  }
  for (std::int64_t id = 0; id < prepared.space.size(); ++id) {
    const model::Variant variant = prepared.space.variant(id);
    const auto job = trial::variant_job(*prepared.spec, prepared.problem, variant, facts, options.compile_deadline_s);
    const auto parts = parts_of(prepared, facts, options, timer, variant, compile::cache_key(job));
    if (store.find_trial(trial::fingerprint(parts))) ++count;
  }
  return count;
}

}  // namespace ktune::sweep
