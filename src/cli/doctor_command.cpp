#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/clock_option.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "compile/compile.h"
#include "compile/nvrtc.h"
#include "device/cuda_folders.h"
#include "device/device.h"
#include "probe/device_look.h"
#include "probe/eviction_proof.h"
#include "probe/selftest.h"
#include "spec/spec.h"

// Each check looks at one thing, says what it found and, where that is not good, what to do about it. `doctor` reads
// and never changes anything.

namespace ktune::cli {

namespace {

enum class Grade { kGood, kNote, kBad };

struct Finding {
  std::string name;
  Grade grade = Grade::kGood;
  std::string what;
  std::string advice;
};

Finding from_error(const std::string& name, Grade grade, const Error& error) {
  return {name, grade, error.message(), error.hint()};
}

/// Facts and state of cuda:0, or why there are none.
struct Gpu {
  std::optional<model::DeviceFacts> facts;
  model::MachineState state;
  std::optional<Error> error;
};

Gpu look_at_gpu(const std::string& device) {
  Gpu gpu;
  try {
    const probe::DeviceLook look = probe::look_at_device(device);
    gpu.facts = look.facts;
    gpu.state = look.state;
  } catch (const Error& error) {
    gpu.error = error;
  }
  return gpu;
}

/// The datasheet's bandwidth beside the one that clock and bus width make: a driver has told a bus width wrong before.
void check_peak(const model::DeviceFacts& facts, std::vector<Finding>& findings) {
  constexpr double kApart = 0.05;
  const auto peak = spec::peak_of(spec::device_peaks(), facts.name);
  if (!peak) return;
  Finding finding{"datasheet", Grade::kGood, fmt::format("{:.0f} GB/s ({})", peak->gbps, peak->source), ""};
  if (facts.spec_gbps <= 0.0) {
    finding.what += "; the device does not say, so % of spec is of this";
  } else if (const double ratio = facts.spec_gbps / peak->gbps; std::abs(ratio - 1.0) > kApart) {
    finding.grade = Grade::kNote;
    finding.what += fmt::format("; clock and bus make {:.0f}, {:+.0f} %", facts.spec_gbps, 100.0 * (ratio - 1.0));
    finding.advice = "% of spec is of clock and bus: one of the two is wrong, or this card is another model";
  }
  findings.push_back(finding);
}

void check_gpu(const Gpu& gpu, std::vector<Finding>& findings) {
  if (!gpu.facts) {
    findings.push_back(from_error("GPU", Grade::kNote, *gpu.error));
    return;
  }
  const model::DeviceFacts& facts = *gpu.facts;
  findings.push_back(
      {"GPU", Grade::kGood,
       fmt::format("{}, compute capability {}.{}, {} SMs, {} L2, {} memory, {:.0f} GB/s by its clock and bus",
                   facts.name, facts.sm / 10, facts.sm % 10, facts.sm_count, format_bytes(facts.l2_bytes),
                   format_bytes(facts.memory_bytes), facts.spec_gbps),
       ""});
  check_peak(facts, findings);
  findings.push_back(
      {"driver", Grade::kGood,
       fmt::format("{}, runs CUDA up to {}.{}", facts.driver, facts.driver_cuda / 1000, facts.driver_cuda % 1000 / 10),
       ""});
  if (facts.ecc == 0)
    findings.push_back({"ECC", Grade::kNote, "off: bandwidth is not comparable with cards that have it on", ""});
  if (facts.ecc == 1) findings.push_back({"ECC", Grade::kGood, "on", ""});
  if (facts.mig == 1)
    findings.push_back({"MIG", Grade::kNote,
                        "on: this is a slice of a GPU; clocks and counters may be shared or hidden",
                        "compare only with results of the same slice"});
  if (facts.mig == 0) findings.push_back({"MIG", Grade::kGood, "off", ""});
}

void check_state(const Gpu& gpu, std::vector<Finding>& findings) {
  if (!gpu.facts) return;
  const model::MachineState& state = gpu.state;
  if (state.sm_clock_mhz > 0)
    findings.push_back({"clocks", Grade::kGood,
                        fmt::format("SM {:.0f} MHz, memory {:.0f} MHz, {:.0f} W, {:.0f} °C (now; not locked by ktune)",
                                    state.sm_clock_mhz, state.memory_clock_mhz, state.power_w, state.temperature_c),
                        ""});
  else
    findings.push_back({"clocks", Grade::kNote, "NVML does not say: clocks and throttling are not recorded",
                        "install libnvidia-ml.so.1 (it comes with the driver)"});
  if (state.other_processes > 0)
    findings.push_back({"neighbours", Grade::kBad,
                        fmt::format("{} other process{} computing on this GPU", state.other_processes,
                                    state.other_processes == 1 ? " is" : "es are"),
                        "times will be noisy: wait for them or pick another GPU with --device cuda:N"});
}

void check_nvrtc(const Gpu& gpu, std::vector<Finding>& findings) {
  try {
    const compile::NvrtcVersion version = compile::nvrtc_version();
    Finding finding{"NVRTC", Grade::kGood, fmt::format("{} ({})", version.text(), version.path.string()), ""};
    if (gpu.facts && version.major > gpu.facts->driver_cuda / 1000) {
      finding.grade = Grade::kBad;
      finding.what += fmt::format("; the driver runs CUDA {}.x only", gpu.facts->driver_cuda / 1000);
      finding.advice = "its cubins may not load: update the driver, or point $CUDA_HOME at an older toolkit";
    }
    findings.push_back(finding);
  } catch (const Error& error) {
    findings.push_back(from_error("NVRTC", gpu.facts ? Grade::kBad : Grade::kNote, error));
  }
}

void check_cupti(std::vector<Finding>& findings) {
  for (const auto& dir : device::cuda_library_dirs())
    for (const auto& name : {"libcupti.so.13", "libcupti.so.12"})
      for (const auto& sub : {"", "extras/CUPTI/lib64"})
        if (std::error_code error; std::filesystem::exists(dir / sub / name, error)) {
          findings.push_back({"CUPTI", Grade::kGood, (dir / sub / name).string(), ""});
          return;
        }
  findings.push_back({"CUPTI", Grade::kNote, "not found: the cupti timer and counters are not available",
                      "install the toolkit's CUPTI or set $CUDA_HOME"});
}

/// The driver's own word on who may read hardware counters.
void check_counters(const Gpu& gpu, std::vector<Finding>& findings) {
  if (!gpu.facts) return;
  std::string params;
  try {
    params = read_file("/proc/driver/nvidia/params");
  } catch (const Error&) {
    findings.push_back({"counters", Grade::kNote, "the driver does not say who may read hardware counters", ""});
    return;
  }
  const bool admin_only = params.find("RmProfilingAdminOnly: 1") != std::string::npos;
  if (!admin_only || geteuid() == 0)
    findings.push_back(
        {"counters", Grade::kGood, admin_only ? "for administrators only, which you are" : "open to every user", ""});
  else
    findings.push_back(
        {"counters", Grade::kNote, "for administrators only (ERR_NVGPUCTRPERM)",
         "run as root, give CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0"});
}

void check_host(std::vector<Finding>& findings) {
  try {
    findings.push_back({"host compiler", Grade::kGood, compile::compiler_version("cpu") + " (the CPU device)", ""});
  } catch (const Error& error) {
    findings.push_back(from_error("host compiler", Grade::kNote, error));
  }
  try {
    findings.push_back({"ops", Grade::kGood, resource_root().string(), ""});
  } catch (const Error& error) {
    findings.push_back(from_error("ops", Grade::kBad, error));
  }
  for (const auto& [name, path] : {std::pair{"cache", cache_dir()}, std::pair{"data", data_dir()}}) {
    if (access(path.c_str(), W_OK) == 0)
      findings.push_back({name, Grade::kGood, path.string(), ""});
    else
      findings.push_back(
          {name, Grade::kBad, path.string() + " cannot be written",
           fmt::format("set $KTUNE_{}_DIR to a folder that can", name == std::string("cache") ? "CACHE" : "DATA")});
  }
}

void check_eviction(const Gpu& gpu, std::vector<Finding>& findings) {
  if (!gpu.facts || gpu.facts->kind != "cuda") return;
  const auto stored = probe::stored_proof(*gpu.facts);
  if (!stored) {
    findings.push_back({"eviction", Grade::kNote, "not proved yet for this GPU and driver",
                        "`ktune doctor --selftest` proves it where counters are allowed"});
    return;
  }
  findings.push_back(
      {"eviction", probe::proves(stored->proof) ? Grade::kGood : Grade::kBad,
       fmt::format("{} ({})", probe::proof_text(stored->proof), stored->date),
       probe::proves(stored->proof) ? "" : "cold times are not cold here: compare --cache warm times only"});
}

struct Mark {
  const char* word;
  Style style;
};
Mark mark_of(Grade grade) {
  return grade == Grade::kGood   ? Mark{"ok", Style::kGreen}
         : grade == Grade::kNote ? Mark{"note", Style::kYellow}
                                 : Mark{"bad", Style::kRed};
}

Cell mark_cell(Grade grade) {
  Cell cell(mark_of(grade).word);
  cell.style = mark_of(grade).style;
  return cell;
}

std::string term_text(const std::vector<Finding>& findings, const std::string& summary, bool colour) {
  std::string text;
  for (const Finding& finding : findings) {
    const auto [word, style] = mark_of(finding.grade);
    text +=
        fmt::format("{}  {:<14}{}\n", styled(fmt::format("{:<4}", word), style, colour), finding.name, finding.what);
    if (!finding.advice.empty()) text += fmt::format("{:20}→ {}\n", "", finding.advice);
  }
  return text + "\n" + summary + "\n";
}

Document doctor_document(const std::vector<Finding>& findings, const std::string& summary) {
  Document document;
  document.schema = "ktune.doctor/1";
  document.title = "ktune doctor";
  document.summary = summary;
  Section section{"", {}, {{{"grade"}, {"name"}, {"what"}, {"advice"}}, {}}, {}};
  for (const Finding& finding : findings)
    section.table.rows.push_back({mark_cell(finding.grade), finding.name, finding.what, finding.advice});
  document.sections.push_back(std::move(section));
  document.term = [findings, summary](int, bool colour) { return term_text(findings, summary, colour); };
  return document;
}

int run_doctor(const std::string& device, const Output& output) {
  if (device.rfind("cuda:", 0) != 0 && device.rfind("fake:", 0) != 0)
    throw Error(ErrorKind::kUsage, fmt::format("doctor looks at a GPU, not at '{}'", device), "--device cuda:N");
  std::vector<Finding> findings;
  const Gpu gpu = look_at_gpu(device);
  check_gpu(gpu, findings);
  check_state(gpu, findings);
  check_nvrtc(gpu, findings);
  check_cupti(findings);
  check_counters(gpu, findings);
  check_eviction(gpu, findings);
  check_host(findings);
  const bool bad = std::any_of(findings.begin(), findings.end(),
                               [](const Finding& finding) { return finding.grade == Grade::kBad; });
  const char* summary =
      gpu.facts ? (bad ? "this GPU can be used once what is marked bad is mended" : "ready to tune on the GPU")
                : "no GPU here: ktune works on the CPU device (--device cpu), whose times say nothing of a GPU";
  deliver(output, document_formats(), doctor_document(findings, summary));
  return bad ? 3 : 0;
}

int run_selftest(const std::string& device, const Output& output) {
  const probe::SelfTest test = probe::run_selftest(device);
  Table table{{{"", false, 0, "grade"}, {"what"}, {"here", true}, {"remarks"}}, {}};
  bool bad = false;
  for (const probe::SelfTestRow& row : test.rows) {
    const bool good = row.grade == probe::SelfTestRow::Grade::kGood;
    const bool is_bad = row.grade == probe::SelfTestRow::Grade::kBad;
    bad = bad || is_bad;
    table.rows.push_back({good ? "ok" : is_bad ? "bad" : "note", row.what, row.value, row.remark});
  }
  Document document;
  document.schema = "ktune.selftest/1";
  document.title = fmt::format("What {} can resolve", test.device);
  document.term = [table, device = test.device](int, bool colour) {
    return fmt::format("what {} can resolve:\n\n{}", device, table.term(0, colour));
  };
  document.sections.push_back({"", {}, std::move(table), {}});
  deliver(output, document_formats(), document);
  return bad ? 3 : 0;
}

}  // namespace

std::function<int()> setup_doctor(CLI::App& app, const model::Provenance&) {
  auto device = std::make_shared<std::string>("cuda:0");
  app.add_option("--device", *device, "Which device to look at")->capture_default_str();
  auto selftest = std::make_shared<bool>(false);
  auto clock_mhz = std::make_shared<int>(0);
  app.add_flag("--selftest", *selftest, "Measure what this machine can resolve: timers, event lattice, A/A, eviction");
  add_clock_option(app, *clock_mhz);
  auto output = std::make_shared<Output>();
  add_output(app, *output, document_formats());
  return [device, selftest, clock_mhz, output] {
    check_output(*output, document_formats(), inputs_of({}, *device, ""));
    if (!*selftest) return run_doctor(*device, *output);
    if (*clock_mhz == 0) return run_selftest(*device, *output);
    const HeldClock held(*clock_mhz, probe::look_at_device(*device).facts);
    return run_selftest(*device, *output);
  };
}

}  // namespace ktune::cli
