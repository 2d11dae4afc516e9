#include "cli/clock_option.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/error.h"
#include "cli/stderr_notices.h"

namespace ktune::cli {

void add_clock_option(CLI::App& app, int& mhz) {
  app.add_option(
         "--lock-clocks", mhz,
         "Hold the SM clock at so many MHz while this runs (0: leave it; needs rights; replaces a lock of yours)")
      ->check(CLI::Range(0, 10000));
}

HeldClock::HeldClock(int mhz, const model::DeviceFacts& facts) {
  if (mhz == 0) return;
  if (facts.kind != "cuda") {
    throw Error(ErrorKind::kUsage, fmt::format("--lock-clocks is for GPUs, this is {}", facts.name), "leave it out");
  }
  lock_ = std::make_unique<device::ClockLock>(facts.uuid, mhz);
}

HeldClock::~HeldClock() {
  if (!lock_) return;
  const std::string message = device::clock_message(lock_->release(), lock_->mhz());
  if (!message.empty()) print_log("warning   {}\n", message);
}

}  // namespace ktune::cli
