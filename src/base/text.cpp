#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>

#include "base/error.h"

namespace ktune {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (true) {
    std::size_t end = text.find(separator, start);
    if (end == std::string_view::npos) break;
    parts.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  parts.emplace_back(text.substr(start));
  return parts;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string ascii_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

namespace {

/// Edits (insert, delete, replace, swap neighbours) from one text to the other.
int edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<int> before(width), previous(width), current(width);
  for (std::size_t j = 0; j < width; ++j) previous[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (std::size_t j = 1; j < width; ++j) {
      int replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

/// Names of one or two letters are too short for a typo to be told from another name.
int most_edits(std::size_t longest) { return longest < 3 ? 0 : std::max(1, static_cast<int>(longest / 3)); }

}  // namespace

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  const std::string wanted = ascii_lower(name);
  std::string best;
  int best_distance = std::numeric_limits<int>::max();
  std::vector<std::string> completions;
  for (const std::string& candidate : candidates) {
    const std::string offered = ascii_lower(candidate);
    int distance = edit_distance(wanted, offered);
    if (distance <= most_edits(std::max(wanted.size(), offered.size())) && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
    if (wanted.size() >= 3 && offered.starts_with(wanted)) completions.push_back(candidate);
  }
  if (best.empty() && completions.size() == 1) return completions.front();
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  std::string meant = nearest(name, candidates);
  return meant.empty() ? "" : "; did you mean '" + meant + "'?";
}

std::int64_t parse_integer(std::string_view text, std::string_view what) {
  std::string_view digits = trim(text);
  int shift = 0;
  if (!digits.empty()) {
    switch (digits.back()) {
      case 'k':
      case 'K':
        shift = 10;
        break;
      case 'm':
      case 'M':
        shift = 20;
        break;
      case 'g':
      case 'G':
        shift = 30;
        break;
      default:
        break;
    }
    if (shift > 0) digits.remove_suffix(1);
  }
  std::int64_t value = 0;
  auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  bool whole = !digits.empty() && end == digits.data() + digits.size();
  std::int64_t result = 0;
  if (whole && failure == std::errc() && !__builtin_mul_overflow(value, std::int64_t{1} << shift, &result)) {
    return result;
  }
  if (whole) throw Error(ErrorKind::kUsage, fmt::format("{}: {} does not fit in 64 bits", what, trim(text)));
  throw Error(ErrorKind::kUsage, fmt::format("{}: '{}' is not a whole number", what, text),
              "digits, with k, M or G for 2^10, 2^20 or 2^30 if you like: 4096, 4k");
}

namespace {

/// Three significant digits, at least one before the point: 0.61 → "0.610", 21.34 → "21.3", 213.4 → "213".
std::string three_digits(double value) {
  double size = std::abs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  if (size >= 0.9995) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3f}", value);
}

}  // namespace

std::string format_time_us(double us) {
  if (std::isnan(us)) return "–";
  if (us == 0.0) return "0 µs";
  double size = std::abs(us);
  if (size < 999.5) return three_digits(us) + " µs";
  if (size < 999.5e3) return three_digits(us / 1e3) + " ms";
  return fmt::format("{:.1f} s", us / 1e6);
}

std::string format_bytes(std::int64_t bytes) {
  double size = std::abs(static_cast<double>(bytes));
  if (size < 1024) return fmt::format("{} B", bytes);
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double scale = 1024;
  std::size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && size / scale >= 1023.95) {
    scale *= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", static_cast<double>(bytes) / scale, kUnits[unit]);
}

std::string utc_now() {
  std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace ktune
