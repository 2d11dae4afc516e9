#pragma once

#include <string>
#include <vector>

namespace ktune::report {

/// A warning and whose it is.
struct Remark {
  std::string text;     ///< "too-short: 4.67 µs is short for the events timer; use the cupti timer"
  std::string subject;  ///< a problem, as the table names it
};

/// One line a kind, in the order of first appearance, with the subjects it is about unless it is about all `count` of
/// them. A kind is what stands before the first colon, where that is one word; a text without is a kind of its own.
/// Words in which the texts of a kind differ become "4.64 to 4.80" where they are numbers, else "…".
std::vector<std::string> grouped(const std::vector<Remark>& remarks, std::size_t count);

}  // namespace ktune::report
