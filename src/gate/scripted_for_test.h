#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "spec/spec.h"
#include "sweep/kernel_processes.h"

// A gate's device, scripted: what each kernel takes in each process, and what becomes of it before.

namespace ktune::gate {

/// "base:1000": the spec file's name without its ending, and N of the problem.
inline std::string text_of(const sweep::PreparedProblem& prepared) {
  return std::filesystem::path(prepared.full->spec_path).stem().string() + ":" +
         std::to_string(prepared.problem.dims.front().second);
}

struct Script {
  /// Microseconds of a kernel in a process, which count from 0 over all rounds.
  std::function<double(const std::string& kernel, int process)> time_us = [](const std::string&, int) { return 20.0; };
  std::map<std::string, model::Failure> compile_fails, verify_fails, timer_fails;
  std::map<std::string, int> dies_in;      ///< the process in which timing the kernel crashes
  std::set<std::string> throttled;         ///< kernels whose figures are
  std::map<std::string, std::string> key;  ///< of a kernel's binary; its name where there is none here
  std::set<std::string> own_reference;     ///< kernels that are not held against the reference of the others
  std::set<std::string> own_launch;        ///< kernels that are not launched as the others are

  std::vector<std::string> asked = {};  ///< "compile base:1000 new:1000", "decide …", "verify …", "time …"
  int processes = 0;
  int opened = 0;
  std::string cache_state = {};

  /// How often all of this was asked.
  int count(const std::string& call) const {
    int times = 0;
    for (const std::string& one : asked) times += one == call ? 1 : 0;
    return times;
  }
};

class ScriptedProcesses final : public sweep::KernelProcesses {
 public:
  explicit ScriptedProcesses(Script& script) : script_(script) {}

  void check_timer(const model::TimerRequest& timer) override {
    script_.asked.push_back("timer " + std::string(model::name_of(timer)));
  }

  std::vector<model::Result<sweep::ReadyKernel>> compile(std::span<const sweep::KernelRequest> requests) override {
    std::vector<model::Result<sweep::ReadyKernel>> kernels;
    std::string call = "compile";
    for (const sweep::KernelRequest& request : requests) {
      const std::string name = text_of(*request.prepared);
      call += " " + name;
      if (script_.compile_fails.contains(name)) {
        kernels.emplace_back(tl::unexpected(script_.compile_fails.at(name)));
        continue;
      }
      sweep::ReadyKernel kernel;
      kernel.prepared = request.prepared;
      kernel.binary.key = script_.key.contains(name) ? script_.key.at(name) : name;
      kernel.reference.key = script_.own_reference.contains(name) ? name : "reference";
      if (script_.own_launch.contains(name)) kernel.plan.launches.emplace_back();
      kernels.emplace_back(std::move(kernel));
    }
    script_.asked.push_back(call);
    return kernels;
  }

  std::vector<model::Result<model::Timer>> decide_timers(std::span<const sweep::ReadyKernel> kernels) override {
    note("decide", kernels);
    std::vector<model::Result<model::Timer>> timers;
    for (const sweep::ReadyKernel& kernel : kernels) {
      const auto fails = script_.timer_fails.find(text_of(*kernel.prepared));
      if (fails != script_.timer_fails.end())
        timers.emplace_back(tl::unexpected(fails->second));
      else
        timers.emplace_back(model::Timer::kEvents);
    }
    return timers;
  }

  std::vector<model::Status> verify(std::span<const sweep::ReadyKernel> kernels) override {
    if (kernels.empty()) return {};
    note("verify", kernels);
    std::vector<model::Status> statuses;
    for (const sweep::ReadyKernel& kernel : kernels) {
      const auto fails = script_.verify_fails.find(text_of(*kernel.prepared));
      statuses.push_back(fails == script_.verify_fails.end() ? model::Status()
                                                             : model::Status(tl::unexpected(fails->second)));
    }
    return statuses;
  }

  std::vector<model::Result<model::ProcessFigure>> time_in_one_process(std::span<const sweep::ReadyKernel> kernels,
                                                                       std::uint64_t) override {
    note("time", kernels);
    const int process = script_.processes++;
    std::vector<model::Result<model::ProcessFigure>> figures;
    for (const sweep::ReadyKernel& kernel : kernels) {
      const std::string name = text_of(*kernel.prepared);
      if (script_.dies_in.contains(name) && script_.dies_in.at(name) <= process)
        figures.emplace_back(model::fail(model::Outcome::kCrashed, "illegal address"));
      else
        figures.emplace_back(
            model::ProcessFigure{script_.time_us(name, process), 100, script_.throttled.contains(name)});
    }
    return figures;
  }

 private:
  void note(const std::string& what, std::span<const sweep::ReadyKernel> kernels) {
    std::string call = what;
    for (const sweep::ReadyKernel& kernel : kernels) call += " " + text_of(*kernel.prepared);
    script_.asked.push_back(call);
  }

  Script& script_;
};

/// A folder outside any repository as the current one, and a script. Both go at the end.
class ScriptedGate : public testing::Test {
 protected:
  ScriptedGate() : before_(std::filesystem::current_path()) {
    std::string pattern = (std::filesystem::temp_directory_path() / "ktune-gate-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::filesystem::current_path(folder_);
    facts_.kind = "fake";
    facts_.name = "Fake H200";
    facts_.sm = 90;
    facts_.sm_count = 132;
    facts_.l2_bytes = 62914560;
    facts_.smem_optin = 232448;
    facts_.registers_per_sm = 65536;
    facts_.memory_bytes = 150'000'000'000;
  }
  ~ScriptedGate() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

  /// The spec of scripts/cases/scale as NAME.toml, with one piece of its text replaced.
  static void write_spec(const std::string& name, const std::string& from = "", const std::string& to = "") {
    const std::filesystem::path scale = resource_root() / "scripts" / "cases" / "scale";
    write_file("scale.cu", read_file(scale / "scale.cu"));
    std::string text = read_file(scale / "scale.toml");
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    write_file(name + ".toml", text);
  }

  sweep::OpenProcesses open_script() {
    return [this](const model::DeviceFacts&, const sweep::ProcessOptions& options) {
      ++script_.opened;
      script_.cache_state = model::name_of(options.cache_state);
      return std::make_unique<ScriptedProcesses>(script_);
    };
  }

  std::filesystem::path before_, folder_;
  model::DeviceFacts facts_;
  Script script_;
};

/// A figure's noise from process to process, small and the same in every run: within ± `percent`.
inline double wobble(int process, double percent) {
  constexpr int kSteps = 7;
  return 1.0 + percent / 100.0 * (static_cast<double>(process * 3 % kSteps) / (kSteps - 1) * 2.0 - 1.0);
}

}  // namespace ktune::gate
