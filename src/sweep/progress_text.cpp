#include "sweep/progress_text.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/text.h"

namespace ktune::sweep {

namespace {

std::string duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
}

/// How an outcome is counted in the progress line.
struct OutcomeWord {
  model::Outcome outcome;
  const char* word;
};
constexpr OutcomeWord kWords[] = {
    {model::Outcome::kMeasured, "measured"},
    {model::Outcome::kRejected, "rejected"},
    {model::Outcome::kCompileFailed, "compile failed"},
    {model::Outcome::kLaunchFailed, "launch failed"},
    {model::Outcome::kWrongResult, "wrong"},
    {model::Outcome::kTimedOut, "timed out"},
    {model::Outcome::kCrashed, "crashed"},
};

}  // namespace

std::string progress_text(const ProblemStatus& status) {
  std::vector<std::string> counts;
  for (const OutcomeWord& word : kWords)
    if (const auto at = status.outcomes.find(word.outcome); at != status.outcomes.end())
      counts.push_back(fmt::format("{} {}", at->second, word.word));
  std::string text = fmt::format("[{}/{}] {} {}  {}/{}", status.index + 1, status.count, status.op, status.problem,
                                 status.done, status.total);
  if (!counts.empty()) text += "  " + join(counts, ", ");
  if (status.reused > 0) text += fmt::format(" ({} re-used)", status.reused);
  if (!status.timer.empty()) text += "  by " + status.timer;
  if (status.best_us > 0.0) text += "  best " + format_time_us(status.best_us);
  if (status.finals) return text + "  timing the finalists again";
  // Pace over what was run here; problems yet to come are taken to cost as much as this one.
  const double run = static_cast<double>(status.done - status.reused) +
                     static_cast<double>(status.index * static_cast<std::size_t>(status.total));
  if (run >= 5.0 && status.elapsed_s > 0.0) {
    const double left = static_cast<double>(status.total - status.done) +
                        static_cast<double>((status.count - status.index - 1) * static_cast<std::size_t>(status.total));
    text += "  " + duration(left * status.elapsed_s / run) + " left";
  }
  return text;
}

}  // namespace ktune::sweep
