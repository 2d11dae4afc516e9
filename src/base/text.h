#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ktune {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string_view trim(std::string_view text);
/// A to Z as a to z, all else as it is.
std::string ascii_lower(std::string_view text);
/// The candidate nearest to `name` by edit distance (case ignored), or "" when none is near enough to be meant.
std::string nearest(std::string_view name, std::span<const std::string> candidates);
/// "; did you mean 'rmsnorm'?" or "".
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);
/// A whole decimal integer with optional k/K/m/M/g/G binary suffix; throws Error(kUsage) naming `what`.
std::int64_t parse_integer(std::string_view text, std::string_view what);
/// "21.3 µs", "1.35 ms", "2.1 s".
std::string format_time_us(double us);
/// "16.0 MiB", "512 B".
std::string format_bytes(std::int64_t bytes);
/// UTC now, "2026-11-29T14:03:05Z".
std::string utc_now();
/// Seconds of the monotonic clock.
double now_s();
/// Columns a UTF-8 text takes on a terminal; colour sequences take none.
int display_width(std::string_view text);
/// The text, or as much of it as fits in so many columns, ending in "…".
std::string cut_to_width(std::string_view text, int columns);

}  // namespace ktune
