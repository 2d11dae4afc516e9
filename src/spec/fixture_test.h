#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "spec/spec.h"

namespace ktune::spec {

/// A complete small spec; tests replace one piece of it and see what is said.
inline constexpr const char* kSmallSpec = R"toml([op]
name = "rowop"
summary = "y = x * w"
source = "rowop.cu"
dims = ["M", "N"]
key = ["N"]

[types]
weight_t = ["f32", "bf16"]
acc_t = ["weight_t", "f64"]

[compile]
include = ["inc"]
options = ["-DX=1"]
static_dims = ["N"]

[[attr]]
name = "mode"
values = ["llama", "gemma"]
default = "gemma"

[[tensor]]
name = "x"
role = "in"
shape = ["M", "N", "2"]
type = "weight_t"
init = "uniform(-1, 2)"
[[tensor]]
name = "y"
role = "out"
shape = ["M"]
strides = ["4"]
type = "acc_t"
[[tensor]]
name = "partial"
role = "scratch"
shape = ["cdiv(M, ROWS)"]
type = "f32"

[[scalar]]
name = "eps"
type = "f32"
value = 1e-6

[[param]]
name = "LOADER"
values = ["ldg", "bulk"]
[[param]]
name = "ROWS"
values = [1, 2, 4]
when = "LOADER == bulk"
otherwise = 1

[[constraint]]
expr = "ROWS <= M"
why = "more rows than there are"

[default]
LOADER = "ldg"
ROWS = 1

[[launch]]
kernel = "rowop"
args = ["x", "y", "M * 2", "eps"]
grid = ["cdiv(M, ROWS)"]
block = ["32"]

[[reference.launch]]
kernel = "rowop_reference"
grid = ["M"]

[verify]
reduction = "N"
[[verify.tolerance]]
tensor = "y"
rtol = 1e-3
atol = 1e-4

[cost]
reads = "M*N*2*sizeof_weight_t"
writes = "M*sizeof_acc_t"

[[problem]]
use = ["sweep", "verify"]
dims = { M = 64, N = 128 }
[[problem]]
use = ["cpu"]
dims = { M = 8, N = 4 }
types = { weight_t = "bf16", acc_t = "f64" }
attrs = { mode = "llama" }
strides = { x = ["2 * N + 8", 2, 1] }
offsets = { x = "N" }
init = { x = "zero_row" }
scalars = { eps = 0.5 }
weight = 2.5
)toml";

/// A folder with rowop.cu, inc/ and whatever a test writes; removed at the end.
class SpecFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::temp_directory_path() / ("ktune_spec_" + std::to_string(::getpid()) + "_" + name);
    std::filesystem::create_directories(folder_ / "inc");
    write_file(folder_ / "rowop.cu", "// kernels\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& text, const std::string& name = "op.toml") const {
    write_file(folder_ / name, text);
    return (folder_ / name).string();
  }

  model::OpSpec load(const std::string& text) const { return load_op(write(text)); }

  /// The small spec with one piece replaced, which must be there once.
  static std::string replaced(const std::string& from, const std::string& to) {
    std::string text = kSmallSpec;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from << " is there twice";
    return text.replace(at, from.size(), to);
  }

  /// "LINE:COLUMN MESSAGE" of the error that `call` gives; the folder's name is cut out.
  template <typename Call>
  std::string error_of(Call call) const {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      std::string where = error.where().substr(0, error.where().find('\n'));
      std::string message = error.message();
      for (std::string* text : {&where, &message}) {
        const std::string prefix = folder_.string() + "/";
        for (std::size_t at = text->find(prefix); at != std::string::npos; at = text->find(prefix)) {
          text->erase(at, prefix.size());
        }
      }
      if (where.starts_with("op.toml:")) where.erase(0, 8);
      return where.empty() ? message : where + " " + message;
    }
    return "no error";
  }

  /// What loading the small spec says after one replacement: "[MARKED] MESSAGE", where MARKED is the text above the
  /// caret and its tail.
  std::string load_error(const std::string& from, const std::string& to) const {
    try {
      load(replaced(from, to));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      const std::vector<std::string> lines = split(error.where(), '\n');
      if (lines.size() != 3) return "no excerpt: " + error.message();
      const std::size_t first = lines[2].find('^');
      std::string message = error.message();
      const std::size_t path = message.find(folder_.string() + "/");
      if (path != std::string::npos) message.erase(path, folder_.string().size() + 1);
      return "[" + lines[1].substr(first, lines[2].size() - first) + "] " + message;
    }
    return "no error";
  }

  std::filesystem::path folder_;
};

}  // namespace ktune::spec
