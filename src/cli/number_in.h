#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>

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

/// A seed: any whole number of 64 bits. (Without it -1 and whatever is too large would quietly be 2^64 - 1.)
inline CLI::Validator is_seed() {
  return {[](std::string& text) {
            std::uint64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool fine = error == std::errc() && end == text.data() + text.size();
            return fine ? std::string() : "Value " + text + " is no whole number from 0 to 18446744073709551615";
          },
          ""};
}

}  // namespace ktune::cli
