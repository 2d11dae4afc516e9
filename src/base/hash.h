#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ktune {

/// XXH3-128 of bytes, 32 hex digits.
std::string hash_hex(std::string_view bytes);
/// XXH3-64 with a seed: seeds derived from names.
std::uint64_t hash_64(std::string_view bytes, std::uint64_t seed = 0);

/// Hash of labelled fields; unambiguous whatever the fields hold (each is length-prefixed).
class FieldHasher {
 public:
  void add(std::string_view label, std::string_view value);
  std::string hex() const;

 private:
  std::string bytes_;
};

}  // namespace ktune
