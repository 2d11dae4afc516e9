#include "verdict/result.h"

#include <algorithm>

#include "base/error.h"
#include "model/enum_names.h"

namespace ktune::verdict {
namespace {

constexpr model::Names<Verdict, 7> kVerdicts = {{{Verdict::kPass, "PASS"},
                                                 {Verdict::kRegressed, "REGRESSED"},
                                                 {Verdict::kImproved, "IMPROVED"},
                                                 {Verdict::kInconclusive, "INCONCLUSIVE"},
                                                 {Verdict::kWrong, "WRONG"},
                                                 {Verdict::kEnvironment, "ENVIRONMENT"},
                                                 {Verdict::kNoData, "NO DATA"}}};

constexpr model::Names<Mode, 4> kModes = {
    {{Mode::kPaired, "paired"}, {Mode::kStored, "stored"}, {Mode::kSelf, "aa"}, {Mode::kStatic, "static"}}};

}  // namespace

std::string_view name_of(Verdict verdict) { return model::find_name(kVerdicts, verdict); }
std::optional<Verdict> parse_as(Verdict, std::string_view name) { return model::find_value(kVerdicts, name); }

std::string_view name_of(Mode mode) { return model::find_name(kModes, mode); }
std::optional<Mode> parse_as(Mode, std::string_view name) { return model::find_value(kModes, name); }

Verdict overall(const std::vector<Row>& rows) {
  auto any = [&](Verdict verdict) {
    return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.verdict == verdict; });
  };
  auto no_data = [](const Row& row) { return row.verdict == Verdict::kNoData; };
  for (Verdict worst : {Verdict::kWrong, Verdict::kRegressed, Verdict::kEnvironment}) {
    if (any(worst)) return worst;
  }
  // No rows at all are "all of them without data" too.
  if (std::all_of(rows.begin(), rows.end(), no_data)) return Verdict::kNoData;
  if (std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return no_data(row) && row.blocks; })) {
    return Verdict::kNoData;
  }
  if (any(Verdict::kInconclusive)) return Verdict::kInconclusive;
  return any(Verdict::kImproved) ? Verdict::kImproved : Verdict::kPass;
}

int exit_code_of(Verdict verdict, bool pass_inconclusive) {
  switch (verdict) {
    case Verdict::kPass:
    case Verdict::kImproved:
      return 0;
    case Verdict::kInconclusive:
      return pass_inconclusive ? 0 : exit_code(ErrorKind::kNo);
    case Verdict::kRegressed:
    case Verdict::kWrong:
      return exit_code(ErrorKind::kNo);
    case Verdict::kEnvironment:
      return exit_code(ErrorKind::kEnvironment);
    case Verdict::kNoData:
      return exit_code(ErrorKind::kNoData);
  }
  bug("a verdict without an exit code", __FILE__, __LINE__);
}

}  // namespace ktune::verdict
