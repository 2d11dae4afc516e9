#include "base/hash.h"

#include <gtest/gtest.h>

namespace ktune {
namespace {

// Known answers of XXH3 (xxHash's own test vectors for the empty input, and xxh128sum / xxhsum -H3 for the others).
TEST(Hash, MatchesTheKnownAnswersOfXxh3) {
  EXPECT_EQ(hash_hex(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash_64(""), 0x2d06800538d394c2u);
  EXPECT_EQ(hash_hex("abc"), "06b05ab6733a618578af5f94892f3950");
  EXPECT_EQ(hash_64("abc"), 0x78af5f94892f3950u);
}

TEST(Hash, ASeedChangesTheSmallHash) { EXPECT_NE(hash_64("x", 1), hash_64("x", 2)); }

TEST(Hash, BytesAfterANulCount) {
  EXPECT_NE(hash_hex(std::string_view("a\0b", 3)), hash_hex(std::string_view("a\0c", 3)));
}

std::string hash_of(const std::vector<std::pair<std::string, std::string>>& fields) {
  FieldHasher hasher;
  for (const auto& [label, value] : fields) hasher.add(label, value);
  return hasher.hex();
}

TEST(FieldHasher, TheSameFieldsGiveTheSameHash) {
  EXPECT_EQ(hash_of({{"source", "x"}, {"arch", "sm_90"}}), hash_of({{"source", "x"}, {"arch", "sm_90"}}));
}

TEST(FieldHasher, MovingABoundaryBetweenFieldsChangesTheHash) {
  EXPECT_NE(hash_of({{"a", "bc"}}), hash_of({{"ab", "c"}}));
  EXPECT_NE(hash_of({{"a", "b"}, {"c", ""}}), hash_of({{"a", "b"}}));
  EXPECT_NE(hash_of({{"a", ""}, {"b", ""}}), hash_of({{std::string("a\0\0\0\0\0\0\0\0b", 10), ""}}));
  EXPECT_NE(hash_of({{"a", "1"}, {"b", "2"}}), hash_of({{"b", "2"}, {"a", "1"}}));
}

}  // namespace
}  // namespace ktune
