#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ktune::model {

/// Element types a tensor or scalar may have.
enum class DType : std::uint8_t { kF16, kBf16, kF32, kF64, kI8, kU8, kI32, kI64 };

/// All of them, in the order above.
std::span<const DType> all_dtypes();
/// "f16", "bf16", … as specs, tables and the database spell it.
std::string_view name_of(DType dtype);
/// The inverse of name_of; nothing for an unknown name.
std::optional<DType> parse_dtype(std::string_view name);
inline std::optional<DType> parse_as(DType, std::string_view name) { return parse_dtype(name); }
/// Bytes of one element.
int size_of(DType dtype);
/// What the kernel's type macro expands to: "__half", "__nv_bfloat16", "float", "signed char", "long long", …
std::string_view cuda_name(DType dtype);
/// Unit roundoff (half the distance from 1 to the next value): 2^-11, 2^-8, 2^-24, 2^-53; 0 for integers.
double unit_roundoff(DType dtype);

}  // namespace ktune::model
