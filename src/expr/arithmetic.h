#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// The arithmetic of expressions: 64-bit integers, every operation checked. An operation that has no value says why; it
// never wraps around and never traps.

namespace ktune::expr {

/// Why an operation has no value.
enum class Fault : std::uint8_t {
  kNone,
  kOverflow,
  kDivisionByZero,
  kModuloByZero,
  kCdivByZero,
  kCdivByNegative,
  kClampBounds,
  kShiftCount,
};

/// "division by zero", for messages.
std::string_view text_of(Fault fault);

// Each sets `result` when it returns kNone, and leaves it alone otherwise.

Fault add(std::int64_t a, std::int64_t b, std::int64_t& result);
Fault subtract(std::int64_t a, std::int64_t b, std::int64_t& result);
Fault multiply(std::int64_t a, std::int64_t b, std::int64_t& result);
Fault divide(std::int64_t a, std::int64_t b, std::int64_t& result);        ///< truncates toward zero, as in C
Fault floor_divide(std::int64_t a, std::int64_t b, std::int64_t& result);  ///< rounds down, as in Python
Fault modulo(std::int64_t a, std::int64_t b, std::int64_t& result);        ///< sign of the dividend, as in C
Fault negate(std::int64_t a, std::int64_t& result);
Fault shift_left(std::int64_t a, std::int64_t bits, std::int64_t& result);   ///< a · 2^bits, 0 ≤ bits ≤ 63
Fault shift_right(std::int64_t a, std::int64_t bits, std::int64_t& result);  ///< ⌊a / 2^bits⌋, 0 ≤ bits ≤ 63

Fault cdiv(std::int64_t a, std::int64_t b, std::int64_t& result);                        ///< ⌈a / b⌉, b > 0
Fault clamp(std::int64_t x, std::int64_t low, std::int64_t high, std::int64_t& result);  ///< low ≤ high
Fault next_pow2(std::int64_t x, std::int64_t& result);  ///< the smallest power of two ≥ x; 1 for x ≤ 1
Fault gcd(std::int64_t a, std::int64_t b, std::int64_t& result);
bool is_pow2(std::int64_t x);

/// The functions an expression may call and how many arguments each takes (most: −1, any number).
struct FunctionInfo {
  std::string_view name;
  int least;
  int most;
};
inline constexpr std::array kFunctions{
    FunctionInfo{"cdiv", 2, 2},  FunctionInfo{"min", 1, -1},      FunctionInfo{"max", 1, -1},
    FunctionInfo{"clamp", 3, 3}, FunctionInfo{"next_pow2", 1, 1}, FunctionInfo{"is_pow2", 1, 1},
    FunctionInfo{"gcd", 2, 2},
};

/// The row of a function, or null.
const FunctionInfo* find_function(std::string_view name);

}  // namespace ktune::expr
