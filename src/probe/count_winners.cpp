#include "probe/count_winners.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/files.h"
#include "base/process.h"
#include "compile/compile.h"
#include "expr/resolve.h"
#include "probe/counters.h"
#include "store/store.h"
#include "trial/build.h"
#include "trial/device_lock.h"

namespace ktune::probe {
namespace {

constexpr double kCountDeadlines = 8.0;  // a reference, verifications, and six ranges a variant

/// A variant whose traffic is wanted, and the trials that get it.
struct Wanted {
  std::string who;
  model::Variant variant;
  std::vector<std::int64_t> trials;
  bool known = false;
};

const model::TrialRecord* fastest(const std::vector<const model::TrialRecord*>& trials) {
  const bool finals = std::any_of(trials.begin(), trials.end(), [](const auto* trial) { return trial->is_final; });
  const model::TrialRecord* best = nullptr;
  for (const model::TrialRecord* trial : trials) {
    if (trial->is_final != finals || trial->outcome != model::Outcome::kMeasured) continue;
    if (best == nullptr || trial->timing.time_us < best->timing.time_us) best = trial;
  }
  return best;
}

std::vector<Wanted> wanted_of(const model::ProblemRecord& record,
                              const std::vector<const model::TrialRecord*>& trials) {
  std::vector<Wanted> wanted;
  if (!record.winner.values.empty()) {
    wanted.push_back({"winner", record.winner, {}, false});
  } else if (const model::TrialRecord* best = fastest(trials); best != nullptr) {
    wanted.push_back({"winner", best->variant, {}, false});
  }
  if (wanted.empty()) return wanted;
  if (wanted.front().variant == record.default_variant) {
    wanted.front().who = "winner, the default,";
  } else {
    wanted.push_back({"default", record.default_variant, {}, false});
  }
  for (Wanted& one : wanted) {
    for (const model::TrialRecord* trial : trials) {
      if (trial->outcome != model::Outcome::kMeasured || !(trial->variant == one.variant)) continue;
      one.trials.push_back(trial->id);
      one.known = one.known || trial->traffic.dram_read >= 0;
    }
  }
  std::erase_if(wanted, [](const Wanted& one) { return one.trials.empty() || one.known; });
  return wanted;
}

/// Everything compiled; nothing when a compile fails, which it did not when the variants were timed.
std::optional<CountRequest> request_of(const sweep::PreparedProblem& prepared, const model::DeviceFacts& facts,
                                       const sweep::Options& options, const std::vector<Wanted>& wanted) {
  const std::string cache = compile::binaries_dir();
  const auto reference =
      compile::compile_one(trial::reference_job(*prepared.spec, prepared.problem, prepared.default_variant, facts,
                                                options.compile_deadline_s),
                           cache);
  if (!reference) return std::nullopt;
  CountRequest request{options.device, prepared.plan, *reference, {}};
  for (const Wanted& one : wanted) {
    auto binary = compile::compile_one(
        trial::variant_job(*prepared.spec, prepared.problem, one.variant, facts, options.compile_deadline_s), cache);
    if (!binary) return std::nullopt;
    request.variants.push_back(
        {expr::require_variant(*prepared.spec, prepared.problem, prepared.scope, one.variant), std::move(*binary)});
  }
  return request;
}

}  // namespace

void count_winners(const std::vector<sweep::SharedProblem>& problems, const model::DeviceFacts& facts,
                   const std::string& database, std::int64_t session, const sweep::Options& options,
                   const std::function<void(const std::string&)>& say) {
  store::Store store(database, store::Store::Mode::kWrite);
  store::Filter own;
  own.session = session;
  const model::Dataset dataset = store.load(own);
  trial::DeviceLock lock;
  if (facts.kind == "cuda" && !facts.uuid.empty()) {
    lock = trial::DeviceLock::acquire(facts.uuid, facts.name, trial::kDeviceWaitS, say);
  }
  std::string forbidden;
  for (const model::ProblemRecord& record : dataset.problems) {
    if (interrupted()) return;
    const auto prepared = std::find_if(problems.begin(), problems.end(), [&](const sweep::SharedProblem& problem) {
      return problem->spec->name == record.op && problem->problem.text() == record.problem.text();
    });
    if (prepared == problems.end()) continue;
    std::vector<const model::TrialRecord*> trials;
    for (const model::TrialRecord& trial : dataset.trials)
      if (trial.problem == record.id) trials.push_back(&trial);
    const std::vector<Wanted> wanted = wanted_of(record, trials);
    if (wanted.empty()) continue;
    CountAnswer answer;
    if (forbidden.empty()) {
      const auto request = request_of(**prepared, facts, options, wanted);
      if (!request) continue;
      answer = count_traffic(*request, kCountDeadlines * options.trial_deadline_s);
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const model::TrafficRecord traffic =
          forbidden.empty() ? answer.traffic[i] : model::TrafficRecord{-1, -1, forbidden};
      for (const std::int64_t trial : wanted[i].trials) store.set_traffic(trial, traffic);
      if (forbidden.empty() && !answer.forbidden) {
        say(fmt::format("counters  {} {}: {} {}", record.op, record.problem.text(), wanted[i].who,
                        traffic_text(traffic, record.cost)));
      }
    }
    if (forbidden.empty() && answer.forbidden) {
      forbidden = answer.traffic.front().why_not;
      say("counters  not read: " + forbidden);
    }
  }
}

}  // namespace ktune::probe
