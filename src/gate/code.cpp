#include "gate/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <thread>

#include "base/error.h"
#include "base/process.h"
#include "base/terminal.h"
#include "compile/sass_counts.h"

namespace ktune::gate {

Binaries compile_all(const std::map<std::string, compile::CompileJob>& jobs, int processes) {
  compile::CompilePool pool(compile::binaries_dir(), processes);
  std::map<std::int64_t, std::string> tickets;
  for (const auto& [key, job] : jobs) tickets[pool.submit(job)] = key;
  Binaries binaries;
  ProgressLine line;
  while (!tickets.empty()) {
    if (interrupted()) throw Error(ErrorKind::kInterrupted, "interrupted; not everything was compiled");
    auto result = pool.wait(1.0);
    const auto at = result ? tickets.find(result->ticket) : tickets.end();
    if (at == tickets.end()) continue;
    binaries.emplace(at->second, std::move(result->binary));
    tickets.erase(at);
    line.update(fmt::format("{}/{} compiled", binaries.size(), jobs.size()));
  }
  return binaries;
}

std::string hash_of(const model::KernelBinary& binary) {
  const std::string hash = compile::code_hash(binary);
  return hash.empty() ? binary.key : hash;
}

CodeCounts count_all(const std::set<std::string>& keys, const Binaries& binaries) {
  CodeCounts counts;
  const std::size_t at_once = std::max(1U, std::thread::hardware_concurrency());
  ProgressLine line;
  for (auto key = keys.begin(); key != keys.end();) {
    if (interrupted()) throw Error(ErrorKind::kInterrupted, "interrupted; not everything was compared");
    std::map<std::string, std::future<std::map<std::string, model::SassCounts>>> running;
    for (; key != keys.end() && running.size() < at_once; ++key)
      running[*key] = std::async(
          std::launch::async, [&binary = *binaries.at(*key)] { return compile::count_sass(compile::sass_of(binary)); });
    for (auto& [name, future] : running) counts[name] = future.get();
    line.update(fmt::format("{}/{} disassembled", counts.size(), keys.size()));
  }
  return counts;
}

}  // namespace ktune::gate
