#include "device/host_memory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "../../kernels/include/ktune_random.cuh"

namespace ktune::device {
namespace {

using model::DType;

/// A 16-bit floating format: sign, exponent, `mantissa` bits; the smallest normal is 2^min_exponent.
struct SmallFloat {
  int mantissa;
  int min_exponent;
  std::uint16_t infinity;
};
constexpr SmallFloat kHalf{10, -14, 0x7c00};
constexpr SmallFloat kBfloat{7, -126, 0x7f80};

/// Rounds f64 once, to nearest even. Going through f32 would round twice.
std::uint16_t encode(const SmallFloat& format, double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | format.infinity | (1 << (format.mantissa - 1)));
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | format.infinity);
  if (value == 0.0) return sign;
  int exponent = 0;
  const double magnitude = std::fabs(value);
  std::frexp(magnitude, &exponent);
  const int e = std::max(exponent - 1, format.min_exponent);
  if (e > 200) return static_cast<std::uint16_t>(sign | format.infinity);
  // A normal's leading one adds 1 to the exponent field, a carry out of the mantissa another: both are meant.
  const auto units = static_cast<long long>(std::nearbyint(std::ldexp(magnitude, format.mantissa - e)));
  const long long bits = (static_cast<long long>(e - format.min_exponent) << format.mantissa) + units;
  return static_cast<std::uint16_t>(sign | std::min<long long>(bits, format.infinity));
}

double decode_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int mantissa = bits & 0x3ff;
  double magnitude = 0.0;
  if (exponent == 0x1f) {
    magnitude = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    magnitude = mantissa * 0x1p-24;
  } else {
    magnitude = std::ldexp(1024 + mantissa, exponent - 25);
  }
  return std::copysign(magnitude, (bits & 0x8000) != 0 ? -1.0 : 1.0);
}

double decode_bfloat(std::uint16_t bits) {
  const std::uint32_t word = static_cast<std::uint32_t>(bits) << 16;
  float value = 0.0f;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

template <typename T>
double load_as(const void* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

template <typename T>
void store_integer(void* at, double value) {
  T stored = 0;
  if (!std::isnan(value)) {
    const double rounded = std::nearbyint(value);
    // max of i64 is no double: the comparison is with 2^63, which is.
    const double low = static_cast<double>(std::numeric_limits<T>::min());
    const double high = static_cast<double>(std::numeric_limits<T>::max());
    if (rounded <= low) {
      stored = std::numeric_limits<T>::min();
    } else if (rounded >= high) {
      stored = std::numeric_limits<T>::max();
    } else {
      stored = static_cast<T>(rounded);
    }
  }
  std::memcpy(at, &stored, sizeof stored);
}

std::uint8_t pattern_byte(std::uint32_t pattern, std::int64_t index) {
  return static_cast<std::uint8_t>(pattern >> (8 * (index & 3)));
}

/// A size that divides 4, or a multiple of 4: an element's pattern depends on its place in the word only.
bool is_pattern(const std::uint8_t* at, int size, std::int64_t byte_offset, std::uint32_t pattern) {
  for (int i = 0; i < size; ++i) {
    if (at[i] != pattern_byte(pattern, byte_offset + i)) return false;
  }
  return true;
}

/// Distance of two integers as f64: exact when they are equal, at least 1 when they are not.
double integer_distance(std::int64_t a, std::int64_t b) {
  const std::uint64_t distance = a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
                                       : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
  return static_cast<double>(distance);
}

/// One pair of elements, neither of them poison.
struct Pair {
  double out;
  double ref;
  double distance;
};

Pair load_pair(DType dtype, const std::uint8_t* out, const std::uint8_t* ref) {
  Pair pair{load_element(dtype, out), load_element(dtype, ref), 0.0};
  if (dtype == DType::kI64) {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::memcpy(&a, out, sizeof a);
    std::memcpy(&b, ref, sizeof b);
    pair.distance = integer_distance(a, b);
  } else {
    pair.distance = std::fabs(pair.out - pair.ref);
  }
  return pair;
}

/// The margin of a pair that can be judged by its distance; infinite for one that cannot agree.
double margin_of(const Pair& pair, const model::Tolerance& tolerance) {
  if (std::isnan(pair.out) || std::isnan(pair.ref)) {
    return std::isnan(pair.out) && std::isnan(pair.ref) ? 0.0 : std::numeric_limits<double>::infinity();
  }
  if (std::isinf(pair.out) || std::isinf(pair.ref)) {
    return pair.out == pair.ref ? 0.0 : std::numeric_limits<double>::infinity();
  }
  if (pair.distance == 0.0) return 0.0;
  const double allowed = tolerance.atol + tolerance.rtol * std::fabs(pair.ref);
  return allowed > 0.0 ? std::min(pair.distance / allowed, kHugeMargin) : kHugeMargin;
}

}  // namespace

double load_element(DType dtype, const void* at) {
  switch (dtype) {
    case DType::kF16:
    case DType::kBf16: {
      std::uint16_t bits = 0;
      std::memcpy(&bits, at, sizeof bits);
      return dtype == DType::kF16 ? decode_half(bits) : decode_bfloat(bits);
    }
    case DType::kF32:
      return load_as<float>(at);
    case DType::kF64:
      return load_as<double>(at);
    case DType::kI8:
      return load_as<std::int8_t>(at);
    case DType::kU8:
      return load_as<std::uint8_t>(at);
    case DType::kI32:
      return load_as<std::int32_t>(at);
    case DType::kI64:
      return load_as<std::int64_t>(at);
  }
  return 0.0;
}

void store_element(DType dtype, void* at, double value) {
  switch (dtype) {
    case DType::kF16:
    case DType::kBf16: {
      const std::uint16_t bits = encode(dtype == DType::kF16 ? kHalf : kBfloat, value);
      std::memcpy(at, &bits, sizeof bits);
      return;
    }
    case DType::kF32: {
      const auto rounded = static_cast<float>(value);
      std::memcpy(at, &rounded, sizeof rounded);
      return;
    }
    case DType::kF64:
      std::memcpy(at, &value, sizeof value);
      return;
    case DType::kI8:
      return store_integer<std::int8_t>(at, value);
    case DType::kU8:
      return store_integer<std::uint8_t>(at, value);
    case DType::kI32:
      return store_integer<std::int32_t>(at, value);
    case DType::kI64:
      return store_integer<std::int64_t>(at, value);
  }
}

void host_initialise(void* base, const model::TensorPlan& plan, std::uint64_t seed) {
  auto* bytes = static_cast<std::uint8_t*>(base);
  const int size = model::size_of(plan.dtype);
  std::memset(bytes, 0xff, static_cast<std::size_t>(plan.storage_bytes()));
  const std::size_t rank = plan.shape.size();
  for (const std::int64_t extent : plan.shape) {
    if (extent <= 0) return;
  }
  // Row-major weights of the logical index; 0 where the stride is 0, so that sharers of an address agree.
  std::vector<std::uint64_t> weights(rank, 0);
  std::uint64_t weight = 1;
  for (std::size_t k = rank; k-- > 0;) {
    weights[k] = plan.strides[k] == 0 ? 0 : weight;
    weight *= static_cast<std::uint64_t>(plan.shape[k]);
  }
  const std::uint64_t row_length = rank == 0 ? 1 : static_cast<std::uint64_t>(plan.shape.back());
  std::vector<std::int64_t> coordinate(rank, 0);
  std::int64_t place = plan.offset;
  std::uint64_t index = 0;
  for (;;) {
    store_element(plan.dtype, bytes + place * size,
                  ktune_random::element(static_cast<int>(plan.init.kind), plan.init.a, plan.init.b, seed, index,
                                        index / row_length));
    std::size_t k = rank;
    while (k > 0) {
      --k;
      if (plan.strides[k] == 0) continue;  // every coordinate of it is the same element
      place += plan.strides[k];
      index += weights[k];
      if (++coordinate[k] < plan.shape[k]) break;
      place -= plan.strides[k] * plan.shape[k];
      index -= weights[k] * static_cast<std::uint64_t>(plan.shape[k]);
      coordinate[k] = 0;
      if (k == 0) return;
    }
    if (k == 0 && (rank == 0 || plan.strides[0] == 0)) return;
  }
}

void host_poison(void* pointer, std::int64_t bytes, std::uint32_t pattern) {
  auto* at = static_cast<std::uint8_t*>(pointer);
  std::int64_t done = 0;
  for (; done + 4 <= bytes; done += 4) std::memcpy(at + done, &pattern, 4);
  for (; done < bytes; ++done) at[done] = pattern_byte(pattern, done);
}

std::int64_t host_first_changed(const void* pointer, std::int64_t bytes, std::uint32_t pattern) {
  const auto* at = static_cast<const std::uint8_t*>(pointer);
  std::int64_t done = 0;
  for (; done + 4 <= bytes; done += 4) {
    if (std::memcmp(at + done, &pattern, 4) != 0) break;
  }
  for (; done < bytes; ++done) {
    if (at[done] != pattern_byte(pattern, done)) return done;
  }
  return -1;
}

CompareResult host_compare(const void* out, const void* reference, const model::TensorPlan& plan, Poison poison,
                           Share share) {
  const auto* a = static_cast<const std::uint8_t*>(out);
  const auto* b = static_cast<const std::uint8_t*>(reference);
  const int size = model::size_of(plan.dtype);
  CompareResult result;
  double margins = 0.0;  // sums of squares
  double sizes = 0.0;
  for (std::int64_t i = share.phase * kShareRun; i < plan.storage; ++i) {
    if (i / kShareRun % share.period != share.phase) {
      i += (share.period - 1) * kShareRun - 1;
      continue;
    }
    const std::int64_t at = i * size;
    const bool out_untouched = is_pattern(a + at, size, at, poison.out);
    const bool ref_untouched = poison.may_stay && is_pattern(b + at, size, at, poison.reference);
    if (out_untouched && ref_untouched) continue;
    ++result.elements;
    if (const double ref = load_element(plan.dtype, b + at); std::isfinite(ref)) {
      result.mean_size += std::fabs(ref);
      sizes += ref * ref;
    }
    if (std::memcmp(a + at, b + at, static_cast<std::size_t>(size)) == 0) continue;
    bool wrong = out_untouched != ref_untouched;
    if (wrong) {
      ++result.unwritten;
    } else {
      const double margin = margin_of(load_pair(plan.dtype, a + at, b + at), plan.tolerance);
      wrong = !(margin <= 1.0);
      if (wrong) ++result.mismatches;
      if (std::isfinite(margin)) {
        result.worst_margin = std::max(result.worst_margin, margin);
        margins += margin * margin;
      }
    }
    if (wrong && result.first < 0) {
      result.first = i;
      result.first_out = load_element(plan.dtype, a + at);
      result.first_ref = load_element(plan.dtype, b + at);
    }
  }
  const double count = static_cast<double>(std::max<std::int64_t>(result.elements, 1));
  result.rms_margin = std::sqrt(margins / count);
  result.mean_size /= count;
  result.rms_size = std::sqrt(sizes / count);
  return result;
}

std::uint64_t host_checksum(const void* pointer, std::int64_t bytes) {
  const auto* at = static_cast<const std::uint8_t*>(pointer);
  std::uint64_t sum = ktune_random::mix(static_cast<std::uint64_t>(bytes));
  std::int64_t done = 0;
  std::uint64_t index = 0;
  for (; done < bytes; done += 4, ++index) {
    std::uint32_t word = 0;
    std::memcpy(&word, at + done, static_cast<std::size_t>(std::min<std::int64_t>(4, bytes - done)));
    sum += ktune_random::checksum_term(word, index);
  }
  return sum;
}

}  // namespace ktune::device
