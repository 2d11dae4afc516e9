#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

// The integer arithmetic of a spec, on the doubles muParser works with: every value is an integer of at most 2^53 in
// magnitude, so every double is exact, and every operation that would leave that range fails instead.

namespace ktune::expr {

/// Largest magnitude of a value: doubles hold every integer up to it.
inline constexpr std::int64_t kLargest = std::int64_t{1} << 53;

/// Thrown by an operation; Program::evaluate turns it into an Error with the expression's position.
struct EvaluationFailure {
  std::string reason;
};

double add(double a, double b);
double subtract(double a, double b);
double multiply(double a, double b);
double divide(double a, double b);  ///< truncates toward zero
double modulo(double a, double b);  ///< sign of the dividend, as in C
double negate(double a);
double logical_not(double a);
double equal(double a, double b);
double not_equal(double a, double b);
double less(double a, double b);
double less_equal(double a, double b);
double greater(double a, double b);
double greater_equal(double a, double b);

double cdiv(double a, double b);  ///< ⌈a / b⌉, b > 0
double minimum(const double* values, int n);
double maximum(const double* values, int n);
double clamp(double x, double low, double high);  ///< low ≤ high
double next_pow2(double x);                       ///< the smallest power of two ≥ x; 1 for x ≤ 1
double is_pow2(double x);
double gcd(double a, double b);

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
