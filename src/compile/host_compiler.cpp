#include "compile/host_compiler.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "compile/headers.h"
#include "compile/host_pch.h"
#include "compile/host_source.h"
#include "compile/nvrtc.h"
#include "device/cpu/host_toolchain.h"

namespace ktune::compile {
namespace {

namespace fs = std::filesystem;
using model::Outcome;

constexpr std::size_t kMostLog = 64 * 1024;

/// How deep below the work folder headers lie: so many ".." may an #include begin with.
const fs::path kHeaderDir = fs::path("a") / "b" / "c" / "d";

std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  for (const std::string& word : split(command, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

std::vector<std::string> flags_for(const std::string& target, bool clang) {
  std::vector<std::string> flags{"-std=c++17",
                                 "-O1",
                                 "-fPIC",
                                 "-fvisibility=hidden",
                                 "-fno-strict-aliasing",
                                 "-fno-exceptions",
                                 "-fno-rtti",
                                 "-ffp-contract=off",
                                 "-w"};
  if (!clang) flags.insert(flags.end(), {"-fno-gnu-unique", "-pipe"});
  if (target == "cpu-sanitize") {
    flags.insert(flags.end(), {"-DKTUNE_CPU_SANITIZE", "-g1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined",
                               "-fno-sanitize-recover=all"});
  } else {
    flags.push_back("-fwrapv");
    if (!clang) flags.insert(flags.end(), {"-fsanitize=alignment,null,bounds", "-fno-sanitize-recover=all"});
  }
  return flags;
}

/// CUDA's headers, then ktune's stand-ins for those that the headers of the element types want besides.
std::vector<std::string> system_dirs(const fs::path& cuda, const fs::path& simt) {
  return {(cuda / "cccl").string(), (simt / "shim").string()};
}

fs::path cuda_headers() {
  fs::path dir = cuda_include_dir();
  if (dir.empty()) {
    throw Error(ErrorKind::kEnvironment, "no cuda_fp16.h: kernels are compiled against CUDA's own element types",
                "set CUDA_HOME to a toolkit, or run scripts/quickstart");
  }
  return dir;
}

std::vector<std::string> own_dirs(const CompileJob& job) {
  std::vector<std::string> dirs = job.include_dirs;
  for (const std::string& option : job.options) {
    if (option.starts_with("-I")) dirs.push_back(option.substr(2));
  }
  dirs.push_back((resource_root() / "kernels" / "include").string());
  return dirs;
}

/// -DNAME, -DNAME=VALUE and -UNAME of the op's own options, as directives: the precompiled header keeps its flags.
std::string directives_of(const CompileJob& job) {
  std::string text;
  for (const std::string& option : job.options) {
    if (option.starts_with("-U")) text += fmt::format("#undef {}\n", option.substr(2));
    if (!option.starts_with("-D")) continue;
    const std::size_t equals = option.find('=');
    const std::string value = equals == std::string::npos ? "1" : option.substr(equals + 1);
    text += fmt::format("#define {} {}\n", option.substr(2, equals == std::string::npos ? equals : equals - 2), value);
  }
  return text;
}

/// The first error of a log without what stands around it.
std::string first_error(const std::string& log) {
  for (const std::string& line : split(log, '\n')) {
    if (line.find(": error: ") == std::string::npos && line.find("fatal error: ") == std::string::npos) continue;
    constexpr std::string_view kMissing = "is not a member of 'ktune_program'";
    if (line.find(kMissing) != std::string::npos) {
      const std::size_t quote = line.find('\'', line.find(": error: "));
      return fmt::format("the source has no kernel {}", line.substr(quote, line.find('\'', quote + 1) - quote + 1));
    }
    return line;
  }
  return {};
}

/// Hash of everything simt.h brings in, and of what compiles it.
std::string environment_key(const std::vector<std::string>& flags) {
  const fs::path simt = device::cpu::simt_dir();
  const fs::path cuda = cuda_headers();
  const std::string text = read_file(simt / "simt.h");
  FieldHasher hasher;
  hasher.add("simt", text);
  const std::vector<std::string> dirs = system_dirs(cuda, simt);
  for (const KernelHeader& header : collect_headers(text, simt, dirs, cuda)) {
    hasher.add("header", header.name);
    hasher.add("text", header.hash);
  }
  for (const std::string& flag : flags) hasher.add("flag", flag);
  hasher.add("compiler", device::cpu::host_toolchain().text());
  hasher.add("build", device::cpu::host_toolchain().build);
  return hasher.hex();
}

std::vector<std::string> include_flags() {
  const fs::path simt = device::cpu::simt_dir();
  const fs::path cuda = cuda_headers();
  std::vector<std::string> flags{"-isystem", cuda.string()};
  for (const std::string& dir : system_dirs(cuda, simt)) {
    std::error_code error;
    if (fs::exists(dir, error)) flags.insert(flags.end(), {"-idirafter", dir});
  }
  return flags;
}

void write_headers(const HostInput& input, const fs::path& work) {
  fs::create_directories(work / kHeaderDir);
  for (const auto& [name, text] : input.headers) {
    const fs::path path = (work / kHeaderDir / name).lexically_normal();
    fs::create_directories(path.parent_path());
    write_file(path, text);
  }
}

}  // namespace

bool is_host_target(const std::string& target) { return target == "cpu" || target == "cpu-sanitize"; }

std::string host_compiler_version() { return device::cpu::host_toolchain().text(); }

HostInput read_host_input(const CompileJob& job) {
  HostInput input;
  const fs::path source(job.source_path);
  const std::string text = read_file(source);
  input.flags = flags_for(job.target, device::cpu::host_toolchain().clang);
  FieldHasher hasher;
  hasher.add("environment", environment_key(input.flags));
  const std::vector<std::string> dirs = own_dirs(job);
  for (const KernelHeader& header : collect_headers(text, source.parent_path(), dirs, {})) {
    // Headers are written below a folder of the compile's own: a name must not lead out of it.
    const fs::path place = (fs::path(kHeaderDir) / header.name).lexically_normal();
    if (place.is_absolute() || *place.begin() == "..")
      throw Error(ErrorKind::kUsage, fmt::format("#include \"{}\" leads out of the kernel's own folders", header.name),
                  "name the header's folder in [compile] include and include it by its name", job.source_path);
    hasher.add("header", header.name);
    hasher.add("text", header.hash);
    input.headers[header.name] = fmt::format("#line 1 \"{}\"\n{}", header.name, rewrite_for_host(*header.text));
  }
  const std::string directives = directives_of(job);
  const std::string name = source.filename().string();
  input.unit = directives + wrap_for_host(name, rewrite_for_host(text), job.macros, job.kernels);
  hasher.add("unit", input.unit);
  hasher.add("target", job.target);
  input.key = hasher.hex();
  return input;
}

model::Result<Compiled> compile_on_host(const HostInput& input, const CompileJob& job) {
  const device::cpu::HostToolchain& toolchain = device::cpu::host_toolchain();
  const std::vector<std::string> compiler = words_of(toolchain.command);
  std::vector<std::string> flags = input.flags;
  for (std::string& flag : include_flags()) flags.push_back(std::move(flag));
  const fs::path simt = precompiled_simt(compiler, flags, environment_key(input.flags));

  const TemporaryFolder work(fs::temp_directory_path(), "ktune", "set TMPDIR to a folder that can be written");
  write_headers(input, work.path());
  const fs::path unit = work.path() / "unit.cpp";
  const fs::path object = work.path() / "unit.so";
  write_file(unit, input.unit);
  std::vector<std::string> argv = compiler;
  argv.insert(argv.end(), flags.begin(), flags.end());
  argv.insert(argv.end(), {"-include", simt.string(), "-I", (work.path() / kHeaderDir).string(), "-shared",
                           "-Wl,-Bsymbolic", unit.string(), "-o", object.string()});
  // The checks' handlers are the kernel's own: without this the driver would link the sanitizer's library for them.
  if (job.target == "cpu") argv.insert(argv.end(), {"-nodefaultlibs", "-lm", "-lc", "-lgcc"});
  // Messages in plain ASCII, whatever the user's language.
  const CommandResult result = run_command(argv, job.deadline_s, {{"LC_ALL", "C"}});
  const std::string log = result.err.substr(0, kMostLog);
  if (result.timed_out) {
    return model::fail(Outcome::kTimedOut, fmt::format("compiling took more than {} s", job.deadline_s), log);
  }
  if (result.status.code != 0) {
    std::string reason = first_error(log);
    if (reason.empty()) reason = fmt::format("{} ended with {}", toolchain.name, result.status.text());
    return model::fail(Outcome::kCompileFailed, std::move(reason), log);
  }
  Compiled compiled;
  compiled.code = read_file(object);
  compiled.log = log;
  for (const std::string& kernel : job.kernels) compiled.resources[kernel] = {};
  return compiled;
}

model::Result<model::KernelBinary> compile_for_host(const CompileJob& job, const std::string& output_stem) {
  const double start_s = now_s();
  const HostInput input = read_host_input(job);
  const auto compiled = compile_on_host(input, job);
  if (!compiled) return tl::unexpected(compiled.error());
  model::KernelBinary binary;
  binary.path = output_stem + ".so";
  write_file(binary.path, compiled->code);
  binary.key = input.key;
  binary.target = job.target;
  binary.resources = compiled->resources;
  binary.log = compiled->log;
  binary.compile_ms = (now_s() - start_s) * 1e3;
  return binary;
}

}  // namespace ktune::compile
