#include "expr/arithmetic.h"

#include <algorithm>
#include <numeric>

namespace ktune::expr {
namespace {

std::int64_t integer(double value) { return static_cast<std::int64_t>(value); }

/// 2^53 + 1 rounds to 2^53 as a double, so the bound is checked on integers.
double checked(std::int64_t value) {
  if (value > kLargest || value < -kLargest) throw EvaluationFailure{"a value beyond 2^53"};
  return static_cast<double>(value);
}

}  // namespace

double add(double a, double b) { return checked(integer(a) + integer(b)); }
double subtract(double a, double b) { return checked(integer(a) - integer(b)); }

double multiply(double a, double b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(integer(a), integer(b), &product)) product = kLargest + 1;
  return checked(product);
}

// As integers: a quotient of doubles may round up to the next integer.
double divide(double a, double b) {
  if (b == 0) throw EvaluationFailure{"division by zero"};
  const std::int64_t quotient = integer(a) / integer(b);
  return static_cast<double>(quotient);
}

double modulo(double a, double b) {
  if (b == 0) throw EvaluationFailure{"modulo by zero"};
  return static_cast<double>(integer(a) % integer(b));
}

double negate(double a) { return a == 0 ? 0 : -a; }
double logical_not(double a) { return a == 0 ? 1 : 0; }
double equal(double a, double b) { return a == b ? 1 : 0; }
double not_equal(double a, double b) { return a != b ? 1 : 0; }
double less(double a, double b) { return a < b ? 1 : 0; }
double less_equal(double a, double b) { return a <= b ? 1 : 0; }
double greater(double a, double b) { return a > b ? 1 : 0; }
double greater_equal(double a, double b) { return a >= b ? 1 : 0; }

double cdiv(double a, double b) {
  if (b == 0) throw EvaluationFailure{"division by zero (cdiv)"};
  if (b < 0) throw EvaluationFailure{"cdiv by a negative number"};
  const std::int64_t quotient = integer(a) / integer(b);
  const bool round_up = integer(a) % integer(b) > 0;
  return static_cast<double>(quotient + (round_up ? 1 : 0));
}

double minimum(const double* values, int n) { return *std::min_element(values, values + n); }
double maximum(const double* values, int n) { return *std::max_element(values, values + n); }

double clamp(double x, double low, double high) {
  if (low > high) throw EvaluationFailure{"clamp with a lower bound above the upper one"};
  return std::clamp(x, low, high);
}

double next_pow2(double x) {
  double power = 1;
  while (power < x) power *= 2;
  return power;
}

double is_pow2(double x) {
  const std::int64_t value = integer(x);
  return value > 0 && (value & (value - 1)) == 0 ? 1 : 0;
}

double gcd(double a, double b) { return static_cast<double>(std::gcd(integer(a), integer(b))); }

const FunctionInfo* find_function(std::string_view name) {
  const auto* found = std::find_if(kFunctions.begin(), kFunctions.end(),
                                   [&](const FunctionInfo& function) { return function.name == name; });
  return found == kFunctions.end() ? nullptr : found;
}

}  // namespace ktune::expr
