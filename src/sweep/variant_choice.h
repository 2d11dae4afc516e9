#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/record.h"
#include "sweep/sweep.h"

// How every command is told which variant of a problem is meant: `default`, `winner`, `winner:SESSION` or NAME=V,…

namespace ktune::sweep {

struct VariantChoice {
  enum class Kind : std::uint8_t { kDefault, kWinner, kNamed };
  Kind kind = Kind::kDefault;
  std::int64_t session = 0;  ///< kWinner: the session that named it; 0: the newest session that named one
  std::string values = {};   ///< kNamed: NAME=V,…; what it leaves out is as in the default

  bool is_winner() const { return kind == Kind::kWinner; }
  friend bool operator==(const VariantChoice&, const VariantChoice&) = default;
};

/// For the help of an option that takes a choice.
inline constexpr std::string_view kVariantChoiceHelp =
    "default, winner (the database's for this device, the default where none is stored), winner:SESSION, or NAME=V,… "
    "(what is left out is as in the default)";

/// Nothing for a text that reads like none of the four. Throws Error(kUsage) for winner:X where X is no number.
std::optional<VariantChoice> read_variant_choice(std::string_view text);
/// Throws Error(kUsage), "did you mean", for a text that reads like none of the four.
VariantChoice parse_variant_choice(const std::string& text);

/// The winners that a choice asks for; none where it asks for no winner or the database does not exist yet. Throws
/// Error(kNoData) where it names a session that named no winner on the device.
std::vector<model::ProblemRecord> winners_of(const VariantChoice& choice, const std::string& database,
                                             const std::string& device);

/// What a choice comes to for one problem.
struct ChosenVariant {
  enum class Origin : std::uint8_t {
    kAsked,       ///< what was asked for
    kNoWinner,    ///< the default: no winner of the problem is stored
    kWinnerGone,  ///< the default: the stored winner is not in the problem's space any more
  };
  model::Variant variant;
  Origin origin = Origin::kAsked;
  std::string why = {};  ///< kWinnerGone
};

/// The variant of NAME=V,…, the rest as in the default. Throws Error(kUsage): an unknown name or value, "did you mean";
/// a variant that the problem's space rejects, with the reason.
model::Variant named_variant(const PreparedProblem& prepared, const std::string& values);

/// `winners`: as winners_of gives them. Throws Error(kUsage) as named_variant does for a choice by NAME=V,….
ChosenVariant choose_variant(const VariantChoice& choice, const PreparedProblem& prepared,
                             std::span<const model::ProblemRecord> winners);

/// Collects where a default stands in for a winner.
class StandIns {
 public:
  void add(const PreparedProblem& prepared, const ChosenVariant& chosen);
  /// One line for all problems without a winner, and one for each whose winner is gone.
  std::vector<std::string> notes() const;

 private:
  std::vector<std::string> without_winner_;
  std::vector<std::string> gone_;
};

}  // namespace ktune::sweep
