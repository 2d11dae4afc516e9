#include "verdict/pairs.h"

#include <fmt/format.h>

#include <cmath>

#include "stats/stats.h"

namespace ktune::verdict {
namespace {

std::string describe_untimed(const model::FigurePair& pair, std::size_t place) {
  const bool base = !model::is_time(pair.base.time_us);
  const double time_us = base ? pair.base.time_us : pair.candidate.time_us;
  return fmt::format("{} gave {} in pair {}", base ? "base" : "candidate",
                     std::isnan(time_us) ? "no time" : fmt::format("{} µs", time_us), place + 1);
}

}  // namespace

Round read_round(std::span<const model::FigurePair> pairs) {
  Round round;
  std::vector<double> base_us;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const model::FigurePair& pair = pairs[i];
    if (!model::is_time(pair.base.time_us) || !model::is_time(pair.candidate.time_us)) {
      if (round.untimed.empty()) round.untimed = describe_untimed(pair, i);
      continue;
    }
    ++round.timed;
    if (pair.base.throttled || pair.candidate.throttled) {
      ++round.throttled;
      continue;
    }
    round.shifts.push_back(std::log(pair.candidate.time_us / pair.base.time_us));
    base_us.push_back(pair.base.time_us);
  }
  if (!base_us.empty()) round.base_us = stats::median(base_us);
  return round;
}

double percent_of(double shift) { return 100.0 * std::expm1(shift); }

std::string percent_text(double percent) {
  const double size = std::abs(percent);
  std::string digits = fmt::format("{:.{}f}", percent, size >= 9.95 ? 0 : size >= 0.995 ? 1 : 2);
  if (digits.find('.') != std::string::npos) {
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
  }
  return (digits == "-0" ? "0" : digits) + " %";
}

}  // namespace ktune::verdict
