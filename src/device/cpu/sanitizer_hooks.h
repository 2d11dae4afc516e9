#pragma once

#include <cstddef>

namespace ktune::device::cpu {

/// AddressSanitizer's functions that fibers need, looked up in the running process: it is there when the worker was
/// started with it preloaded, or when ktune itself is built with it. All null otherwise.
struct SanitizerHooks {
  using StartSwitch = void (*)(void** fake_stack_save, const void* bottom, std::size_t size);
  using FinishSwitch = void (*)(void* fake_stack_save, const void** bottom_old, std::size_t* size_old);
  using Unpoison = void (*)(const volatile void* address, std::size_t size);
  using SetReportCallback = void (*)(void (*callback)(const char* report));

  StartSwitch start_switch = nullptr;
  FinishSwitch finish_switch = nullptr;
  Unpoison unpoison = nullptr;
  SetReportCallback set_report_callback = nullptr;

  bool present() const { return start_switch != nullptr && finish_switch != nullptr && unpoison != nullptr; }
};

/// Looks them up once.
const SanitizerHooks& sanitizer_hooks();

}  // namespace ktune::device::cpu
