// A spec that was damaged at random is read or refused with a place in the file; nothing else may happen.

#include <random>

#include "spec/fixture_test.h"

namespace ktune::spec {
namespace {

using Damaged = SpecFolder;

std::string damaged(std::mt19937& random, std::string text) {
  static constexpr char kBytes[] = "[]{}\"'=,.#\n\\ 0aM(\x80";
  for (auto edits = 1 + random() % 3; edits > 0; --edits) {
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text.erase(at, 1 + random() % 8);
        break;
      case 1:
        text.insert(at, 1, kBytes[random() % (sizeof kBytes - 1)]);
        break;
      case 2:
        text[at] = kBytes[random() % (sizeof kBytes - 1)];
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 40));
        break;
    }
  }
  return text;
}

TEST_F(Damaged, SpecsAreReadOrRefusedWithAPlace) {
  const std::string whole = replaced("\"ROWS <= M\"", "\"half <= M\"") +
                            "[let]\ngroups = \"cdiv(M, ROWS)\"\nhalf = \"groups // 2 in [0x10, 2] ? 0 : not groups\"\n";
  int refused = 0;
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    std::mt19937 random(seed);
    const std::string path = write(damaged(random, whole));
    try {
      load_op(path);
    } catch (const Error& error) {
      ++refused;
      EXPECT_EQ(error.kind(), ErrorKind::kUsage) << seed;
      EXPECT_TRUE(error.where().starts_with(path + ":")) << seed << ": " << error.message() << " at " << error.where();
    }
  }
  EXPECT_GT(refused, 700);
}

}  // namespace
}  // namespace ktune::spec
