#include "verdict/result.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"

namespace ktune::verdict {
namespace {

constexpr std::array<std::pair<Verdict, std::string_view>, 7> kVerdicts = {{{Verdict::kPass, "PASS"},
                                                                            {Verdict::kRegressed, "REGRESSED"},
                                                                            {Verdict::kImproved, "IMPROVED"},
                                                                            {Verdict::kInconclusive, "INCONCLUSIVE"},
                                                                            {Verdict::kWrong, "WRONG"},
                                                                            {Verdict::kEnvironment, "ENVIRONMENT"},
                                                                            {Verdict::kNoData, "NO DATA"}}};

constexpr std::array<std::pair<Mode, std::string_view>, 4> kModes = {
    {{Mode::kPaired, "paired"}, {Mode::kStored, "stored"}, {Mode::kSelf, "aa"}, {Mode::kStatic, "static"}}};

template <typename Names, typename Enum>
std::string_view find_name(const Names& names, Enum value) {
  for (const auto& [key, name] : names) {
    if (key == value) return name;
  }
  bug("an enumerator without a name", __FILE__, __LINE__);
}

}  // namespace

std::string_view name_of(Verdict verdict) { return find_name(kVerdicts, verdict); }

std::string_view name_of(Mode mode) { return find_name(kModes, mode); }

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
