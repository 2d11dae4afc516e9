#include "compile/headers.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace ktune::compile {
namespace {

namespace fs = std::filesystem;

class Headers : public ::testing::Test {
 protected:
  Headers() {
    std::string pattern = (fs::temp_directory_path() / "ktune-headers-XXXXXX").string();
    dir_ = mkdtemp(pattern.data());
  }
  ~Headers() override { fs::remove_all(dir_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((dir_ / name).parent_path());
    std::ofstream(dir_ / name) << text;
  }
  std::vector<std::string> names(std::string_view source) const {
    const std::vector<std::string> dirs{(dir_ / "first").string(), (dir_ / "second").string()};
    std::vector<std::string> found;
    for (const KernelHeader& header : collect_headers(source, dir_ / "op", dirs, dir_ / "last")) {
      found.push_back(header.name + " = " + *header.text);
    }
    return found;
  }

  fs::path dir_;
};

using Names = std::vector<std::string>;

TEST_F(Headers, AreFoundBesideTheSourceThenInTheFoldersInOrder) {
  write("op/a.h", "A beside");
  write("first/a.h", "A first");
  write("first/b.h", "B first");
  write("second/b.h", "B second");
  write("second/c.h", "C second");
  write("last/d.h", "D last");
  EXPECT_EQ(names("#include \"a.h\"\n  # include <b.h> // why\n#include \"c.h\"\n#include <d.h>\n#include <cstdint>\n"),
            (Names{"a.h = A beside", "b.h = B first", "c.h = C second", "d.h = D last"}));
  EXPECT_EQ(names("#include <a.h>\n"), (Names{"a.h = A first"}));
}

TEST_F(Headers, AreFollowedThroughOtherHeadersWithoutGoingRound) {
  write("first/a.h", "#include \"b.h\"\n");
  write("first/b.h", "#include \"a.h\"\n#if 0\n#include <deep/c.h>\n#endif\n");
  write("first/deep/c.h", "#include \"d.h\"\n");
  write("first/deep/d.h", "end");
  EXPECT_EQ(names("#include <a.h>\n"),
            (Names{"a.h = #include \"b.h\"\n", "b.h = #include \"a.h\"\n#if 0\n#include <deep/c.h>\n#endif\n",
                   "deep/c.h = #include \"d.h\"\n", "d.h = end"}));
}

TEST_F(Headers, OfOneNameAndTwoContentsAreRefused) {
  write("op/a.h", "one");
  write("first/b.h", "#include <a.h>\n");
  write("first/a.h", "two");
  EXPECT_THROW(names("#include \"a.h\"\n#include \"b.h\"\n"), Error);
  write("first/a.h", "one");
  EXPECT_EQ(names("#include \"a.h\"\n#include \"b.h\"\n").size(), 2U);
}

TEST_F(Headers, AreReadAgainWhenTheyChange) {
  write("first/a.h", "one");
  EXPECT_EQ(names("#include \"a.h\"\n"), Names{"a.h = one"});
  write("first/a.h", "three");
  EXPECT_EQ(names("#include \"a.h\"\n"), Names{"a.h = three"});
  write("first/a.h", "seven");  // the same size, so only the time tells
  fs::last_write_time(dir_ / "first/a.h", fs::file_time_type::clock::now() + std::chrono::seconds(2));
  EXPECT_EQ(names("#include \"a.h\"\n"), Names{"a.h = seven"});
}

}  // namespace
}  // namespace ktune::compile
