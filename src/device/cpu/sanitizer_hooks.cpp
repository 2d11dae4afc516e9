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
    found.tsan_current = reinterpret_cast<SanitizerHooks::CurrentThreadFiber>(find("__tsan_get_current_fiber"));
    found.tsan_create = reinterpret_cast<SanitizerHooks::CreateThreadFiber>(find("__tsan_create_fiber"));
    found.tsan_destroy = reinterpret_cast<SanitizerHooks::UseThreadFiber>(find("__tsan_destroy_fiber"));
    found.tsan_switch = reinterpret_cast<SanitizerHooks::SwitchThreadFiber>(find("__tsan_switch_to_fiber"));
    return found;
  }();
  return hooks;
}

}  // namespace ktune::device::cpu
