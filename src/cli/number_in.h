#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ktune::cli {

/// A real number between two, NaN not among them (CLI::Range lets it through: every comparison with it is false).
inline CLI::Validator number_in(double low, double high) {
  CLI::Validator range = CLI::Range(low, high);
  const auto within = CLI::Validator(
      [low, high](std::string& text) {
        double value = 0.0;
        const bool fine = CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
        return fine ? std::string()
                    : "Value " + text + " is no number from " + CLI::detail::to_string(low) + " to " +
                          CLI::detail::to_string(high);
      },
      range.get_description());
  return within;
}

}  // namespace ktune::cli
