#include "compile/host_source.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ktune::compile {
namespace {

TEST(HostSource, MakesDynamicSharedMemoryAPointer) {
  EXPECT_EQ(rewrite_for_host("void f() { extern __shared__ float s[]; s[0] = 1; }"),
            "void f() { float* const s = ktune_cpu::DynamicShared{}; s[0] = 1; }");
  EXPECT_EQ(rewrite_for_host("void f() { extern __shared__ alignas(16) unsigned char s[]; }"),
            "void f() { unsigned char* const s = ktune_cpu::DynamicShared{}; }");
  EXPECT_EQ(rewrite_for_host("void f() { extern __align__(8) __shared__ T s[][2 * 8]; }"),
            "void f() { T (* const s)[2 * 8] = ktune_cpu::DynamicShared{}; }");
}

TEST(HostSource, KnowsANamespaceFromAFunction) {
  constexpr const char* kOutside = "extern __thread float* s __asm__(\"ktune_cpu_dynamic_shared\");";
  EXPECT_EQ(rewrite_for_host("extern __shared__ float s[];"), kOutside);
  EXPECT_EQ(rewrite_for_host("namespace a { namespace b { extern __shared__ float s[]; } }"),
            std::string("namespace a { namespace b { ") + kOutside + " } }");
  EXPECT_EQ(rewrite_for_host("struct A { int x; }; extern __shared__ float s[];"),
            std::string("struct A { int x; }; ") + kOutside);
  EXPECT_EQ(rewrite_for_host("#define OPEN {\nextern __shared__ float s[];"),
            std::string("#define OPEN {\n") + kOutside);
}

TEST(HostSource, TakesTheLinkageOfKernelsAwayAndNoOther) {
  EXPECT_EQ(rewrite_for_host("extern \"C\" __global__ void write(int* x) {}"), "__global__ void write(int* x) {}");
  EXPECT_EQ(rewrite_for_host("extern \"C\" __launch_bounds__(8) __global__ void k() {}"),
            "__launch_bounds__(8) __global__ void k() {}");
  EXPECT_EQ(rewrite_for_host("extern \"C\" { __global__ void k() {} }"), "namespace { __global__ void k() {} }");
  EXPECT_EQ(rewrite_for_host("extern \"C\" int puts(const char*);"), "extern \"C\" int puts(const char*);");
  EXPECT_EQ(rewrite_for_host("extern int x;"), "extern int x;");
}

TEST(HostSource, PutsSharedAlignmentWhereItMayStand) {
  EXPECT_EQ(rewrite_for_host("__shared__ alignas(sizeof(int) * (4)) float s[4];"),
            "alignas(sizeof(int) * (4)) __shared__ float s[4];");
  EXPECT_EQ(rewrite_for_host("static __shared__ float s[4];"), "__shared__ float s[4];");
  EXPECT_EQ(rewrite_for_host("__shared__ float s[4];"), "__shared__ float s[4];");
}

TEST(HostSource, LeavesCommentsLiteralsAndNumbersAlone) {
  for (const char* text :
       {"// extern __shared__ float s[];\n", "/* static __shared__ */",
        "const char* t = \"extern \\\"C\\\" __global__\";", "auto r = R\"x(extern __shared__ float s[];)x\";",
        "int n = 1'000'000; char c = '\\'';", "int external = 0; int my_static = 1;"}) {
    EXPECT_EQ(rewrite_for_host(text), text);
  }
}

TEST(HostSource, MovesNoLine) {
  const std::string text =
      "\n\nextern\n\"C\"\n__global__ void k() {\n  extern __shared__\n  float\n  s[];\n  static\n  __shared__ int "
      "t;\n}\n";
  const std::string rewritten = rewrite_for_host(text);
  EXPECT_EQ(std::count(rewritten.begin(), rewritten.end(), '\n'), std::count(text.begin(), text.end(), '\n'));
  const std::string head = rewritten.substr(0, rewritten.find("void k"));
  EXPECT_EQ(std::count(head.begin(), head.end(), '\n'), 4);
}

TEST(HostSource, WrapsMacrosSourceAndKernels) {
  const std::string unit = wrap_for_host("x.cu", "TEXT", {{"BLOCK", "32"}}, {"a", "b"});
  EXPECT_EQ(unit.rfind("#define BLOCK 32\n", 0), 0u);
  EXPECT_NE(unit.find("#line 1 \"x.cu\"\nTEXT\n"), std::string::npos);
  EXPECT_NE(unit.find("Exported<&ktune_program::b>::entry(\"b\")"), std::string::npos);
}

}  // namespace
}  // namespace ktune::compile
