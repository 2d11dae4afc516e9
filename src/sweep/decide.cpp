#include "sweep/decide.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "measure/measure.h"
#include "stats/stats.h"

namespace ktune::sweep {
namespace {

constexpr double kTieShare = 0.01;
constexpr double kTieUs = 0.1;
constexpr double kStays = 1.5;   // thresholds within which the winner of before ties
constexpr double kYields = 0.5;  // … and within which the default takes its place

}  // namespace

double tie_threshold_us(double best_us) { return std::max(kTieShare * best_us, kTieUs); }

bool ties(std::span<const double> best, std::span<const double> other, double share) {
  KTUNE_CHECK(best.size() == other.size() && !best.empty());
  std::vector<double> differences(best.size());
  for (std::size_t i = 0; i < best.size(); ++i) differences[i] = other[i] - best[i];
  return stats::median(differences) < share * tie_threshold_us(stats::median(best)) ||
         stats::median_interval(differences, measure::kLevel).low <= 0.0;
}

Choice choose(std::span<const Contender> contenders) {
  KTUNE_CHECK(!contenders.empty());
  Choice choice;
  for (std::size_t i = 1; i < contenders.size(); ++i)
    if (stats::median(contenders[i].rounds) < stats::median(contenders[choice.best].rounds)) choice.best = i;
  const auto tied = [&](std::size_t i, double share) {
    return i == choice.best || ties(contenders[choice.best].rounds, contenders[i].rounds, share);
  };
  bool stays = false;  // the winner of before does
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    if (!tied(i, contenders[i].won_before ? kStays : 1.0)) continue;
    choice.tie_set.push_back(i);
    stays = stays || contenders[i].won_before;
  }
  const auto rank = [&](std::size_t i) {
    const Contender& one = contenders[i];
    const bool as_default = one.is_default && (one.won_before || tied(i, stays ? kYields : 1.0));
    return std::tuple(!as_default, !one.won_before, one.registers, one.shared_bytes, one.id);
  };
  choice.winner = *std::min_element(choice.tie_set.begin(), choice.tie_set.end(),
                                    [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  return choice;
}

}  // namespace ktune::sweep
