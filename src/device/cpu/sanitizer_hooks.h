#pragma once

#include <cstddef>

namespace ktune::device::cpu {

/// What a sanitizer wants to be told of fibers, looked up in the running process: AddressSanitizer is there when the
/// worker was started with it preloaded or when ktune itself is built with it, ThreadSanitizer when ktune is. Null
/// otherwise.
struct SanitizerHooks {
  using StartSwitch = void (*)(void** fake_stack_save, const void* bottom, std::size_t size);
  using FinishSwitch = void (*)(void* fake_stack_save, const void** bottom_old, std::size_t* size_old);
  using Unpoison = void (*)(const volatile void* address, std::size_t size);
  using CurrentThreadFiber = void* (*)();
  using CreateThreadFiber = void* (*)(unsigned flags);
  using UseThreadFiber = void (*)(void* fiber);
  using SwitchThreadFiber = void (*)(void* fiber, unsigned flags);

  StartSwitch start_switch = nullptr;
  FinishSwitch finish_switch = nullptr;
  Unpoison unpoison = nullptr;
  CurrentThreadFiber tsan_current = nullptr;
  CreateThreadFiber tsan_create = nullptr;
  UseThreadFiber tsan_destroy = nullptr;
  SwitchThreadFiber tsan_switch = nullptr;

  bool address() const { return start_switch != nullptr && finish_switch != nullptr && unpoison != nullptr; }
  bool thread() const { return tsan_current != nullptr && tsan_create != nullptr && tsan_switch != nullptr; }
};

/// Looks them up once.
const SanitizerHooks& sanitizer_hooks();

}  // namespace ktune::device::cpu
