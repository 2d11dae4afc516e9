#include "expr/arithmetic.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace ktune::expr {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

/// The one quotient that does not fit: −2^63 / −1. The processor traps on it.
bool quotient_overflows(std::int64_t a, std::int64_t b) { return a == kLowest && b == -1; }

std::uint64_t magnitude(std::int64_t a) {
  return a < 0 ? ~static_cast<std::uint64_t>(a) + 1 : static_cast<std::uint64_t>(a);
}

}  // namespace

std::string_view text_of(Fault fault) {
  switch (fault) {
    case Fault::kNone:
      return "";
    case Fault::kOverflow:
      return "overflow of 64 bits";
    case Fault::kDivisionByZero:
      return "division by zero";
    case Fault::kModuloByZero:
      return "modulo by zero";
    case Fault::kCdivByZero:
      return "division by zero (cdiv)";
    case Fault::kCdivByNegative:
      return "cdiv by a negative number";
    case Fault::kClampBounds:
      return "clamp with a lower bound above the upper one";
    case Fault::kShiftCount:
      return "shift by less than 0 or more than 63 bits";
  }
  return "";
}

Fault add(std::int64_t a, std::int64_t b, std::int64_t& result) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return Fault::kOverflow;
  result = sum;
  return Fault::kNone;
}

Fault subtract(std::int64_t a, std::int64_t b, std::int64_t& result) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return Fault::kOverflow;
  result = difference;
  return Fault::kNone;
}

Fault multiply(std::int64_t a, std::int64_t b, std::int64_t& result) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return Fault::kOverflow;
  result = product;
  return Fault::kNone;
}

Fault divide(std::int64_t a, std::int64_t b, std::int64_t& result) {
  if (b == 0) return Fault::kDivisionByZero;
  if (quotient_overflows(a, b)) return Fault::kOverflow;
  result = a / b;
  return Fault::kNone;
}

Fault floor_divide(std::int64_t a, std::int64_t b, std::int64_t& result) {
  if (b == 0) return Fault::kDivisionByZero;
  if (quotient_overflows(a, b)) return Fault::kOverflow;
  const bool round_down = a % b != 0 && (a < 0) != (b < 0);
  result = a / b - (round_down ? 1 : 0);
  return Fault::kNone;
}

Fault modulo(std::int64_t a, std::int64_t b, std::int64_t& result) {
  if (b == 0) return Fault::kModuloByZero;
  result = b == -1 ? 0 : a % b;  // −2^63 % −1 is 0, and the processor traps on it
  return Fault::kNone;
}

Fault negate(std::int64_t a, std::int64_t& result) {
  if (a == kLowest) return Fault::kOverflow;
  result = -a;
  return Fault::kNone;
}

Fault shift_left(std::int64_t a, std::int64_t bits, std::int64_t& result) {
  if (bits < 0 || bits > 63) return Fault::kShiftCount;
  const auto shifted = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << bits);
  if (shifted >> bits != a) return Fault::kOverflow;
  result = shifted;
  return Fault::kNone;
}

Fault shift_right(std::int64_t a, std::int64_t bits, std::int64_t& result) {
  if (bits < 0 || bits > 63) return Fault::kShiftCount;
  result = a >> bits;
  return Fault::kNone;
}

Fault cdiv(std::int64_t a, std::int64_t b, std::int64_t& result) {
  if (b == 0) return Fault::kCdivByZero;
  if (b < 0) return Fault::kCdivByNegative;
  result = a / b + (a % b > 0 ? 1 : 0);
  return Fault::kNone;
}

Fault clamp(std::int64_t x, std::int64_t low, std::int64_t high, std::int64_t& result) {
  if (low > high) return Fault::kClampBounds;
  result = std::clamp(x, low, high);
  return Fault::kNone;
}

Fault next_pow2(std::int64_t x, std::int64_t& result) {
  if (x <= 1) {
    result = 1;
    return Fault::kNone;
  }
  if (x > kHighest / 2 + 1) return Fault::kOverflow;
  result = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(x)));
  return Fault::kNone;
}

Fault gcd(std::int64_t a, std::int64_t b, std::int64_t& result) {
  std::uint64_t x = magnitude(a);
  std::uint64_t y = magnitude(b);
  while (y != 0) {
    const std::uint64_t rest = x % y;
    x = y;
    y = rest;
  }
  if (x > static_cast<std::uint64_t>(kHighest)) return Fault::kOverflow;
  result = static_cast<std::int64_t>(x);
  return Fault::kNone;
}

bool is_pow2(std::int64_t x) { return x > 0 && (x & (x - 1)) == 0; }

const FunctionInfo* find_function(std::string_view name) {
  const auto* found = std::find_if(kFunctions.begin(), kFunctions.end(),
                                   [&](const FunctionInfo& function) { return function.name == name; });
  return found == kFunctions.end() ? nullptr : found;
}

}  // namespace ktune::expr
