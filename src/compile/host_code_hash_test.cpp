#include "compile/host_code_hash.h"

#include "compile/compile.h"
#include "compile/host_kernel_fixture.h"

// What of a host binary counts as its machine code.

namespace ktune::compile {
namespace {

class HostCodeHash : public HostKernelTest {
 protected:
  std::string hash(const std::string& text) {
    const auto binary = compile(job_of(text, {"k"}));
    if (binary) return code_hash(*binary);
    ADD_FAILURE() << binary.error().reason << "\n" << binary.error().detail;
    return "";
  }
};

TEST_F(HostCodeHash, IsOfWhatRunsAndNotOfHowItIsWritten) {
  const std::string kernel =
      "__device__ float start[2] = {7.f, 1.f};\n__global__ void k(float* y, int n) { y[n % 8] = start[n % 2] + 3.f; "
      "}\n";
  const std::string original = hash(kernel);
  EXPECT_EQ(original.size(), 32U);
  const auto changed = [&](const std::string& what, const std::string& by) {
    std::string text = kernel;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
      text.replace(at, what.size(), by);
    EXPECT_NE(text, kernel) << what;
    return hash(text);
  };
  EXPECT_EQ(hash("// above: every line moves\n\n" + kernel + "// below\n"), original);
  EXPECT_EQ(changed("{ y", "{     y"), original) << "the column of an access";
  EXPECT_EQ(changed("int n", "int  n"), original) << "blanks";
  EXPECT_NE(changed("3.f", "4.f"), original);
  EXPECT_NE(changed("+", "-"), original);
  EXPECT_NE(changed("{7.f", "{8.f"), original) << "initial data";
  EXPECT_NE(changed("% 8", "% 4"), original);
}

TEST_F(HostCodeHash, IsNothingOfWhatIsNoSharedObject) {
  const auto binary = compile(job_of("__global__ void k(float* y) { y[0] = 1.f; }\n", {"k"}));
  ASSERT_TRUE(binary);
  const std::string object = read_file(binary->path);
  ASSERT_NE(host_code_hash(object), "");
  EXPECT_EQ(host_code_hash(""), "");
  EXPECT_EQ(host_code_hash("no ELF file at all, and longer than the header of one would be, by some bytes at least"),
            "");
  for (std::size_t size = 0; size < object.size(); size += 97)
    ASSERT_EQ(host_code_hash(std::string_view(object).substr(0, size)), "") << size;
}

}  // namespace
}  // namespace ktune::compile
