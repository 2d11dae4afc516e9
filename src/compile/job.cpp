#include "compile/job.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "compile/cache.h"
#include "compile/host_compiler.h"
#include "compile/nvrtc_compiler.h"

namespace ktune::compile {

using model::Json;

model::Result<model::KernelBinary> compile_here(const CompileJob& job, const std::string& cache_dir) {
  const double start_s = now_s();
  // Key and text come from one reading: a file edited meanwhile cannot put a binary under another text's key.
  std::string key;
  const auto compiled = [&] {
    if (is_host_target(job.target)) {
      const HostInput input = read_host_input(job);
      key = input.key;
      return compile_on_host(input, job);
    }
    const NvrtcInput input = read_nvrtc_input(job);
    key = input.key;
    return compile_with_nvrtc(input, job);
  }();
  if (!compiled) return tl::unexpected(compiled.error());
  return store_cached(cache_dir, key, job.target, *compiled, (now_s() - start_s) * 1e3);
}

std::string request_line(const CompileJob& job, const std::string& cache_dir) {
  Json json;
  json["job"] = job;
  json["cache_dir"] = cache_dir;
  return json.dump();
}

std::string answer_line(const std::string& request) {
  Json answer;
  try {
    const Json json = Json::parse(request);
    const auto result = compile_here(json.at("job").get<CompileJob>(), json.at("cache_dir").get<std::string>());
    if (result) {
      answer["binary"] = *result;
    } else {
      answer["failure"] = result.error();
    }
  } catch (const Error& error) {
    answer["failure"] = model::Failure{model::Outcome::kCompileFailed, error.message(), format_error(error),
                                       error.kind() == ErrorKind::kEnvironment};
  } catch (const Json::exception& error) {
    answer["failure"] = model::Failure{model::Outcome::kCompileFailed, "bad compile request", error.what()};
  }
  // A compiler's log may hold any bytes; JSON may not.
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

model::Result<model::KernelBinary> read_answer(const std::string& line) {
  try {
    const Json json = Json::parse(line);
    if (json.contains("binary")) return json.at("binary").get<model::KernelBinary>();
    return tl::unexpected(json.at("failure").get<model::Failure>());
  } catch (const Json::exception& error) {
    return model::fail(model::Outcome::kCompileFailed, "the compile process gave an answer that is none",
                       fmt::format("{}\n{}", error.what(), line.substr(0, 2000)));
  }
}

}  // namespace ktune::compile
