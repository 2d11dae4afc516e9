#include "device/cpu/host_toolchain.h"

#include <cstdlib>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "base/text.h"

namespace ktune::device::cpu {
namespace {

constexpr double kLookS = 20.0;
constexpr const char* kInstallHint = "install one (Debian, Ubuntu: apt install g++), or name one in $CXX";

std::string first_line(std::string_view text) { return std::string(trim(text.substr(0, text.find('\n')))); }

/// What a command says of itself; nothing when it does not run. `command` may hold a launcher ("ccache g++").
std::optional<HostToolchain> ask(const std::string& command) {
  std::vector<std::string> words;
  for (const std::string& word : split(command, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  if (words.empty()) return std::nullopt;
  const auto run = [&](const char* option) -> std::optional<std::string> {
    std::vector<std::string> argv = words;
    argv.emplace_back(option);
    try {
      const CommandResult result = run_command(argv, kLookS);
      if (result.timed_out || result.status.code != 0) return std::nullopt;
      return result.out;
    } catch (const Error&) {
      return std::nullopt;
    }
  };
  const auto about = run("--version");
  const auto version = run("-dumpfullversion");
  if (!about) return std::nullopt;
  HostToolchain found;
  found.command = command;
  found.build = first_line(*about);
  found.clang = found.build.find("clang") != std::string::npos;
  found.name = found.clang ? "clang++" : "g++";
  if (version) {
    found.version = first_line(*version);
  } else if (const auto plain = run("-dumpversion")) {
    found.version = first_line(*plain);
  }
  return found;
}

HostToolchain look() {
  const char* named = std::getenv("CXX");
  if (named != nullptr && *named != '\0') {
    if (auto found = ask(named)) return *found;
    throw Error(ErrorKind::kEnvironment, std::string("$CXX names a compiler that does not run: '") + named + "'",
                "unset CXX, or set it to a C++ compiler");
  }
  for (const char* command : {"g++", "c++", "clang++"}) {
    if (auto found = ask(command)) return *found;
  }
  throw Error(ErrorKind::kEnvironment, "no C++ compiler: the CPU device needs one for its kernels", kInstallHint);
}

}  // namespace

const HostToolchain& host_toolchain() {
  static const HostToolchain toolchain = look();
  return toolchain;
}

std::filesystem::path simt_dir() {
  const std::filesystem::path dir = resource_root() / "src" / "device" / "cpu";
  if (std::filesystem::exists(dir / "simt.h")) return dir;
  throw Error(ErrorKind::kEnvironment, "this installation has no simt.h: the CPU device cannot compile kernels",
              "expected at " + (dir / "simt.h").string());
}

std::filesystem::path sanitizer_runtime() {
  const HostToolchain& toolchain = host_toolchain();
  std::vector<std::string> argv;
  for (const std::string& word : split(toolchain.command, ' ')) {
    if (!word.empty()) argv.push_back(word);
  }
  argv.emplace_back(toolchain.clang ? "-print-file-name=libclang_rt.asan-x86_64.so" : "-print-file-name=libasan.so");
  const CommandResult result = run_command(argv, kLookS);
  // A compiler that does not have the file answers with the bare name.
  const std::filesystem::path path = first_line(result.out);
  if (path.is_absolute() && std::filesystem::exists(path)) return std::filesystem::canonical(path);
  throw Error(ErrorKind::kEnvironment, toolchain.text() + " has no AddressSanitizer library",
              "install it (Debian, Ubuntu: it is part of libgcc-12-dev or newer)");
}

}  // namespace ktune::device::cpu
