#include "compile/host_kernel_fixture.h"

// What a host binary's key depends on.

namespace ktune::compile {
namespace {

class HostKey : public HostKernelTest {
 protected:
  HostKey() { std::filesystem::create_directories(dir_ / "lib"); }

  std::string key(const CompileJob& job) { return read_host_input(job).key; }
  CompileJob job() {
    write_file(dir_ / "lib" / "part.cuh", "#pragma once\n");
    CompileJob made = job_of("#include \"part.cuh\"\n__global__ void k() {}", {"k"}, {{"N", "1"}});
    made.include_dirs = {(dir_ / "lib").string()};
    return made;
  }
};

TEST_F(HostKey, IsTheSameForTheSameBytesWhereverTheyLie) {
  const CompileJob first = job();
  const std::string before = key(first);
  std::filesystem::create_directories(dir_ / "moved");
  std::filesystem::copy(dir_ / "lib", dir_ / "moved" / "lib", std::filesystem::copy_options::recursive);
  std::filesystem::copy(dir_ / "test.cu", dir_ / "moved" / "test.cu");
  CompileJob second = first;
  second.source_path = (dir_ / "moved" / "test.cu").string();
  second.include_dirs = {(dir_ / "moved" / "lib").string()};
  EXPECT_EQ(key(second), before);
}

TEST_F(HostKey, ChangesWithEverythingThatTheCompileReads) {
  const CompileJob plain = job();
  const std::string before = key(plain);
  CompileJob other = plain;
  other.macros = {{"N", "2"}};
  EXPECT_NE(key(other), before);
  other = plain;
  other.target = "cpu-sanitize";
  EXPECT_NE(key(other), before);
  other = plain;
  other.options = {"-DX=1"};
  EXPECT_NE(key(other), before);
  write_file(dir_ / "lib" / "part.cuh", "#pragma once\nint x;\n");
  EXPECT_NE(key(plain), before);
  write_file(dir_ / "lib" / "part.cuh", "#pragma once\n");
  EXPECT_EQ(key(plain), before);
  write_file(plain.source_path, "#include \"part.cuh\"\n__global__ void k() { }");
  EXPECT_NE(key(plain), before);
}

TEST_F(HostKey, NamesTheCompilerThatIsThere) {
  const std::string version = host_compiler_version();
  EXPECT_TRUE(version.starts_with("g++ ") || version.starts_with("clang++ ")) << version;
  EXPECT_NE(version.find_first_of("0123456789"), std::string::npos);
  EXPECT_EQ(device_->facts().toolkit, version);
}

}  // namespace
}  // namespace ktune::compile
