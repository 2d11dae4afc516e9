#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>

namespace ktune {

std::string hash_hex(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(32);
  for (unsigned char byte : canonical.digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::uint64_t hash_64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

namespace {

void append_prefixed(std::string& bytes, std::string_view field) {
  std::uint64_t size = field.size();
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>((size >> (8 * i)) & 255);
  bytes += field;
}

}  // namespace

void FieldHasher::add(std::string_view label, std::string_view value) {
  append_prefixed(bytes_, label);
  append_prefixed(bytes_, value);
}

std::string FieldHasher::hex() const { return hash_hex(bytes_); }

}  // namespace ktune
