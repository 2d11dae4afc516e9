#include "sweep/sweep.h"

#include "base/process.h"
#include "base/text.h"
#include "sweep/loop.h"
#include "sweep/timer.h"
#include "trial/build.h"
#include "trial/device_lock.h"
#include "trial/worker.h"

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
  StoreLedger ledger(store);
  Budget budget(options.budget_s, now_s);
  Context context{facts, options, observer, ledger, pool, worker, budget, compile::cache_key, interrupted, 0};

  model::SessionRecord session;
  session.date = utc_now();
  session.command = options.provenance.command;
  session.version = options.provenance.version;
  session.commit = options.provenance.commit;
  session.device = facts;
  context.session = store.add_session(session);

  Summary summary = sweep_problems(context, problems);
  if (!summary.interrupted) store.complete_session(context.session);
  return summary;
}

Summary run(const std::vector<SharedProblem>& problems, const model::DeviceFacts& facts, const std::string& database,
            const Options& options, const Observer& observer) {
  store::Store store(database, store::Store::Mode::kWrite);
  if (observer.opened) observer.opened();
  return run(problems, facts, store, options, observer);
}

std::int64_t count_reusable(const PreparedProblem& prepared, const model::DeviceFacts& facts, store::Store& store,
                            const Options& options) {
  StoreLedger ledger(store);
  const Recipes recipes(prepared, facts, options, compile::cache_key);
  model::TimerRequest timer = options.timer;
  if (auto_decides(facts, options)) {
    const auto before = timer_decided_before(recipes, ledger);
    if (!before) return 0;  // the default is to be measured, and what it decides is not known
    timer = *before;
  }
  std::int64_t count = 0;
  for (search::VariantId id = 0; id < prepared.space.size(); ++id)
    if (store.find_trial(trial::fingerprint(recipes.parts(id, timer)))) ++count;
  return count;
}

}  // namespace ktune::sweep
