#include "sweep/variant_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/text.h"
#include "spec/spec.h"
#include "sweep/winners.h"

namespace ktune::sweep {

namespace {

constexpr std::string_view kWinnerOf = "winner:";
/// That many problems without a winner are named; the rest are counted.
constexpr std::size_t kNamedProblems = 8;

bool is_assignment(std::string_view text) {
  const std::size_t at = text.find('=');
  return at != std::string_view::npos && at > 0 &&
         std::all_of(text.begin(), text.begin() + at, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

}  // namespace

std::optional<VariantChoice> read_variant_choice(std::string_view text) {
  if (text == "default") return VariantChoice{};
  if (text == "winner") return VariantChoice{VariantChoice::Kind::kWinner};
  if (text.starts_with(kWinnerOf)) {
    const std::int64_t session = parse_integer(text.substr(kWinnerOf.size()), fmt::format("the session of {}", text));
    if (session < 1)
      throw Error(ErrorKind::kUsage, fmt::format("{}: sessions are numbered from 1", text),
                  "`ktune db list` shows the sessions");
    return VariantChoice{VariantChoice::Kind::kWinner, session};
  }
  if (is_assignment(text)) return VariantChoice{VariantChoice::Kind::kNamed, 0, std::string(text)};
  return std::nullopt;
}

VariantChoice parse_variant_choice(const std::string& text) {
  if (auto choice = read_variant_choice(trim(text))) return *std::move(choice);
  const std::vector<std::string> words{"default", "winner"};
  throw Error(ErrorKind::kUsage, fmt::format("'{}' names no variant{}", text, did_you_mean(text, words)),
              "default, winner, winner:SESSION, or NAME=V,…");
}

std::vector<model::ProblemRecord> winners_of(const VariantChoice& choice, const std::string& database,
                                             const std::string& device) {
  if (!choice.is_winner()) return {};
  std::vector<model::ProblemRecord> winners = stored_winners(database, device, choice.session);
  if (winners.empty() && choice.session > 0) throw no_winner_named(database, device, choice.session);
  return winners;
}

model::Variant named_variant(const PreparedProblem& prepared, const std::string& values) {
  model::Variant variant = spec::parse_variant(*prepared.full, values, prepared.default_variant);
  if (const auto why = why_absent(prepared, variant))
    throw Error(ErrorKind::kUsage,
                fmt::format("{} is not in the space of {}: {}", variant.text(), name_of(prepared), *why),
                "`ktune space --list` shows what is");
  return variant;
}

ChosenVariant choose_variant(const VariantChoice& choice, const PreparedProblem& prepared,
                             std::span<const model::ProblemRecord> winners) {
  using Origin = ChosenVariant::Origin;
  if (choice.kind == VariantChoice::Kind::kDefault) return {prepared.default_variant, Origin::kAsked};
  if (choice.kind == VariantChoice::Kind::kNamed) return {named_variant(prepared, choice.values), Origin::kAsked};
  const model::ProblemRecord* record = find_winner(winners, prepared.full->name, prepared.problem.text());
  if (record == nullptr) return {prepared.default_variant, Origin::kNoWinner};
  try {
    return {named_variant(prepared, record->winner.text()), Origin::kAsked};
  } catch (const Error& error) {
    return {prepared.default_variant, Origin::kWinnerGone, error.message()};
  }
}

void StandIns::add(const PreparedProblem& prepared, const ChosenVariant& chosen) {
  const std::string name = name_of(prepared);
  if (chosen.origin == ChosenVariant::Origin::kWinnerGone)
    gone_.push_back(fmt::format("the winner of {} is gone, the default stands in: {}", name, chosen.why));
  if (chosen.origin != ChosenVariant::Origin::kNoWinner) return;
  if (std::find(without_winner_.begin(), without_winner_.end(), name) == without_winner_.end())
    without_winner_.push_back(name);
}

std::vector<std::string> StandIns::notes() const {
  std::vector<std::string> notes;
  if (!without_winner_.empty()) {
    const std::size_t named = std::min(without_winner_.size(), kNamedProblems);
    std::string names = join(std::span(without_winner_).first(named), ", ");
    if (named < without_winner_.size()) names += fmt::format(" and {} more", without_winner_.size() - named);
    notes.push_back(fmt::format("no winner is stored for {}: the default stands in", names));
  }
  notes.insert(notes.end(), gone_.begin(), gone_.end());
  return notes;
}

}  // namespace ktune::sweep
