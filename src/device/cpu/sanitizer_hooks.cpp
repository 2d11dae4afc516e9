#include "device/cpu/sanitizer_hooks.h"

#include <dlfcn.h>

namespace ktune::device::cpu {

const SanitizerHooks& sanitizer_hooks() {
  static const SanitizerHooks hooks = [] {
    const auto find = [](const char* name) { return dlsym(RTLD_DEFAULT, name); };
    SanitizerHooks found;
    found.start_switch = reinterpret_cast<SanitizerHooks::StartSwitch>(find("__sanitizer_start_switch_fiber"));
    found.finish_switch = reinterpret_cast<SanitizerHooks::FinishSwitch>(find("__sanitizer_finish_switch_fiber"));
    found.unpoison = reinterpret_cast<SanitizerHooks::Unpoison>(find("__asan_unpoison_memory_region"));
    found.set_report_callback =
        reinterpret_cast<SanitizerHooks::SetReportCallback>(find("__asan_set_error_report_callback"));
    return found;
  }();
  return hooks;
}

}  // namespace ktune::device::cpu
