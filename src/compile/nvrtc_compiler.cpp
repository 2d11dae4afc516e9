#include "compile/nvrtc_compiler.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "compile/headers.h"
#include "compile/ptxas_log.h"

namespace ktune::compile {
namespace {

namespace fs = std::filesystem;

/// The op's own folders, then ktune's.
std::vector<std::string> include_dirs_of(const CompileJob& job) {
  std::vector<std::string> dirs = job.include_dirs;
  try {
    dirs.push_back((resource_root() / "kernels" / "include").string());
  } catch (const Error&) {
    // An op that brings every header of its own needs no resource folder.
  }
  return dirs;
}

std::string names_of(const std::map<std::string, model::KernelResources>& entries) {
  std::vector<std::string> names;
  for (const auto& [name, resources] : entries) names.push_back(name);
  return names.empty() ? "none" : join(names, ", ");
}

}  // namespace

bool is_gpu_target(const std::string& target) {
  return target.starts_with("sm_") && target.size() > 3 && std::isdigit(static_cast<unsigned char>(target[3])) != 0;
}

NvrtcInput read_nvrtc_input(const CompileJob& job) {
  NvrtcInput input;
  const fs::path source(job.source_path);
  input.program.name = source.filename().string();
  input.program.source = read_file(source);
  input.program.options = nvrtc_options(job.target);
  for (const auto& [name, value] : job.macros) input.program.options.push_back("-D" + name + "=" + value);
  for (const std::string& option : job.options) input.program.options.push_back(option);

  const NvrtcVersion version = nvrtc_version();
  FieldHasher hasher;
  hasher.add("source", input.program.source);
  const std::vector<std::string> dirs = include_dirs_of(job);
  for (const KernelHeader& header :
       collect_headers(input.program.source, source.parent_path(), dirs, cuda_include_dir())) {
    hasher.add("header", header.name);
    hasher.add("text", header.hash);
    input.program.headers.emplace_back(header.name, *header.text);
  }
  for (const std::string& option : input.program.options) hasher.add("option", option);
  for (const std::string& kernel : job.kernels) hasher.add("kernel", kernel);
  hasher.add("target", job.target);
  hasher.add("compiler", version.text());
  hasher.add("build", version.build);
  input.key = hasher.hex();
  return input;
}

model::Result<Compiled> compile_with_nvrtc(const NvrtcInput& input, const CompileJob& job) {
  const NvrtcOutput output = run_nvrtc(input.program);
  if (!output.ok) {
    const std::string said = first_error(output.log);
    return model::fail(model::Outcome::kCompileFailed, said.empty() ? output.error : said, without_notes(output.log));
  }
  Compiled compiled;
  compiled.code = output.code;
  compiled.log = output.log;
  const auto entries = parse_ptxas_log(output.log);
  for (const std::string& kernel : job.kernels) {
    const std::string entry = entry_of(entries, kernel);
    if (entries.empty() && output.code.find(".text." + kernel) != std::string::npos) {
      compiled.resources[kernel] = {};  // ptxas said nothing of anything, and yet the kernel is there: not known
      continue;
    }
    if (entry.empty()) {
      return model::fail(
          model::Outcome::kCompileFailed,
          fmt::format("{} has no kernel '{}'; it has: {}", input.program.name, kernel, names_of(entries)),
          without_notes(output.log));
    }
    compiled.resources[kernel] = entries.at(entry);
  }
  return compiled;
}

}  // namespace ktune::compile
