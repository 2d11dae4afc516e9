#include <gtest/gtest.h>

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "compile/compile.h"
#include "compile/nvrtc_compiler.h"
#include "compile/scratch_op_test.h"

namespace ktune::compile {
namespace {

/// Everything a cubin may hold: constants, a lookup table, initial data, shared memory, a function of its own, a call
/// out of it.
constexpr const char* kSource = R"(
__constant__ float table[4] = {1, 2, 3, 4};
__device__ float start = 7.0f;
__device__ __noinline__ float mix(float a, float b) { return sinf(a) * b + table[(int)b & 3]; }
extern "C" __global__ void __launch_bounds__(256) scale(const float4* x, float* y, int n) {
  __shared__ float s[64];
  s[threadIdx.x % 64] = x[threadIdx.x].x;
  __syncthreads();
  const float4 v = x[n];
  y[n] = mix(v.x, v.y) + s[63 - threadIdx.x % 64] * start;
  if (n < 0) printf("no %d", n);
}
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  if (at == std::string::npos) {
    ADD_FAILURE() << "the source has no " << what;
    return text;
  }
  return text.replace(at, what.size(), by);
}

std::string cubin_of(const std::string& source, const std::string& target) {
  const ScratchOp op;
  op.write("op.cu", source);
  const CompileJob job = op.job(target);
  const auto compiled = compile_with_nvrtc(read_nvrtc_input(job), job);
  if (!compiled) {
    ADD_FAILURE() << compiled.error().reason << compiled.error().detail;
    return "";
  }
  return compiled->code;
}

std::string hash_of(const std::string& source, const std::string& target) {
  return code_hash_of(cubin_of(source, target));
}

TEST(StateOf, NamesTheVariablesThatOutliveALaunch) {
  const std::string source = R"(
__constant__ float table[4] = {1, 2, 3, 4};
__device__ int launches;
__device__ float seen[1000];
__device__ float first = 7.0f;
extern "C" __global__ void scale(float* y, int n) {
  __shared__ float s[64];
  s[threadIdx.x % 64] = first;
  if (n < 0) printf("no %d", n);
  y[n] = seen[n] + table[n & 3] + s[n % 64] + atomicAdd(&launches, 1);
  seen[n] = first = y[0];
})";
  for (const char* target : {"sm_80", "sm_90"})
    EXPECT_EQ(state_of(cubin_of(source, target)), (std::vector<std::string>{"first", "launches", "seen"})) << target;
  EXPECT_EQ(state_of(cubin_of("extern \"C\" __global__ void scale(float* y) { *y = 1.0f; }", "sm_90")),
            std::vector<std::string>{});
  EXPECT_EQ(state_of("no cubin"), std::vector<std::string>{});
}

class CodeHash : public ::testing::TestWithParam<const char*> {};

TEST_P(CodeHash, IsTheSameWhereOnlyCommentsAndNamesOfLocalsDiffer) {
  const std::string original = cubin_of(kSource, GetParam());
  std::string other = replaced(kSource, "const float4 v", "/* a\n\n comment */ const float4 v");
  other = replaced(other, "float mix(float a, float b) { return sinf(a) * b + table[(int)b & 3]; }",
                   "float blend(float one, float two) { return sinf(one) * two + lut[(int)two & 3]; }");
  other = replaced(other, "mix(v.x, v.y)", "blend(v.x, v.y)");
  other = replaced(other, "float table[4]", "float lut[4]");
  const std::string same = cubin_of(other, GetParam());
  EXPECT_TRUE(same != original) << "line numbers and symbols should differ";
  EXPECT_EQ(code_hash_of(original).size(), 32U);
  EXPECT_EQ(code_hash_of(same), code_hash_of(original));
}

TEST_P(CodeHash, ChangesWithWhatRuns) {
  const std::string original = hash_of(kSource, GetParam());
  const std::string target = GetParam();
  EXPECT_NE(hash_of(replaced(kSource, "sinf(a) * b", "sinf(a) + b"), target), original) << "an instruction";
  EXPECT_NE(hash_of(replaced(kSource, "{1, 2, 3, 4}", "{1, 2, 3, 5}"), target), original) << "a constant";
  EXPECT_NE(hash_of(replaced(kSource, "7.0f", "8.0f"), target), original) << "initial data";
  EXPECT_NE(hash_of(replaced(kSource, "s[64]", "s[640]"), target), original) << "the size of shared memory";
  EXPECT_NE(hash_of(replaced(kSource, "bounds__(256)", "bounds__(128)"), target), original) << "launch bounds";
  EXPECT_NE(hash_of(replaced(kSource, "int n)", "int n, int more)"), target), original) << "parameters";
}

INSTANTIATE_TEST_SUITE_P(EveryArchitecture, CodeHash, ::testing::Values("sm_80", "sm_90", "sm_100", "sm_120"));

/// A cubin's section headers, to damage them.
std::vector<Elf64_Shdr> headers_of(const std::string& cubin) {
  Elf64_Ehdr header;
  std::memcpy(&header, cubin.data(), sizeof(header));
  std::vector<Elf64_Shdr> headers(header.e_shnum);
  std::memcpy(headers.data(), cubin.data() + header.e_shoff, headers.size() * sizeof(Elf64_Shdr));
  return headers;
}

TEST(CodeHashOf, TellsTwoVariablesThatChangePlaces) {
  std::string cubin = cubin_of(
      "__device__ float first[64], second[64];\n"
      "extern \"C\" __global__ void scale(float* x) { x[0] = first[threadIdx.x]; x[1] = second[threadIdx.x + 1]; }\n",
      "sm_90");
  const std::string original = code_hash_of(cubin);
  std::vector<std::size_t> places;  // of the two symbols' entries
  for (const Elf64_Shdr& header : headers_of(cubin))
    for (std::size_t at = 0; header.sh_type == SHT_SYMTAB && at < header.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, cubin.data() + header.sh_offset + at, sizeof(symbol));
      if (symbol.st_size == 256 && ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT) places.push_back(header.sh_offset + at);
    }
  ASSERT_EQ(places.size(), 2U);
  for (std::size_t i = 0; i < sizeof(Elf64_Addr); ++i)
    std::swap(cubin[places[0] + offsetof(Elf64_Sym, st_value) + i],
              cubin[places[1] + offsetof(Elf64_Sym, st_value) + i]);
  EXPECT_NE(code_hash_of(cubin), original);
}

TEST(CodeHashOf, IsNothingWhereASectionReachesPastTheEnd) {
  const std::string cubin = cubin_of(kSource, "sm_90");
  Elf64_Ehdr header;
  std::memcpy(&header, cubin.data(), sizeof(header));
  for (std::size_t i = 1; i < header.e_shnum; ++i) {
    if (headers_of(cubin)[i].sh_type == SHT_NOBITS) continue;
    std::string damaged = cubin;
    const std::uint64_t size = ~std::uint64_t{0} - 8;
    std::memcpy(damaged.data() + header.e_shoff + i * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size), &size, 8);
    EXPECT_EQ(code_hash_of(damaged), "") << i;
  }
}

TEST(CodeHashOf, TellsArchitecturesApart) { EXPECT_NE(hash_of(kSource, "sm_80"), hash_of(kSource, "sm_90")); }

TEST(CodeHashOf, IsNothingForATruncatedFile) {
  const std::string cubin = cubin_of(kSource, "sm_90");
  ASSERT_GT(cubin.size(), 4000U);
  Elf64_Ehdr header;
  std::memcpy(&header, cubin.data(), sizeof(header));
  const std::size_t needed = header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr);
  for (std::size_t size = 0; size < needed; ++size)
    ASSERT_EQ(code_hash_of(std::string_view(cubin).substr(0, size)), "") << size;
  EXPECT_NE(code_hash_of(cubin), "");
}

TEST(CodeHashOf, SurvivesAnyDamagedByte) {
  const std::string cubin = cubin_of(kSource, "sm_90");
  for (std::size_t at = 0; at < cubin.size(); ++at)
    for (const int byte : {0x00, 0x7f, 0xff}) {
      std::string damaged = cubin;
      damaged[at] = static_cast<char>(byte);
      const std::string hash = code_hash_of(damaged);
      ASSERT_TRUE(hash.empty() || hash.size() == 32U) << at;
    }
}

TEST(CodeHashOf, IsNothingForWhatIsNoCubin) {
  EXPECT_EQ(code_hash_of(""), "");
  EXPECT_EQ(code_hash_of("no ELF file at all, and longer than the header of one would be, by some bytes at least"), "");
  std::string cubin = cubin_of(kSource, "sm_90");
  cubin[18] = 62;  // e_machine: x86-64
  EXPECT_EQ(code_hash_of(cubin), "");
}

TEST(CodeHashOfABinary, IsNothingForOtherDevicesAndMissingFiles) {
  const ScratchOp op;
  model::KernelBinary binary;
  binary.path = op.write("a.cubin", cubin_of(kSource, "sm_90"));
  binary.target = "sm_90";
  EXPECT_EQ(code_hash(binary), hash_of(kSource, "sm_90"));
  binary.target = "cpu";
  EXPECT_EQ(code_hash(binary), "");
  binary.target = "sm_90";
  binary.path = op.path("none.cubin");
  EXPECT_EQ(code_hash(binary), "");
}

}  // namespace
}  // namespace ktune::compile
