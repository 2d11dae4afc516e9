#pragma once

// A GPU stops at a null pointer or a misaligned vector access; x86 often does not. Plain builds are compiled with the
// compiler's own checks of these (and of indices into arrays of known size), and these are their handlers: each kernel
// object has its own, so none of the sanitizer's runtime is needed. The layouts are those of UBSan's ABI.

#ifndef KTUNE_CPU_SANITIZE
namespace ktune_cpu {

struct CheckedAt {
  const char* file;
  unsigned line;
  unsigned column;
};
struct CheckedType {
  unsigned short kind;
  unsigned short info;
  char name[1];
};
struct MismatchData {
  CheckedAt at;
  const CheckedType* type;
  unsigned char log_alignment;
  unsigned char access;
};
struct IndexData {
  CheckedAt at;
  const CheckedType* array_type;
  const CheckedType* index_type;
};

}  // namespace ktune_cpu

extern "C" {
[[noreturn]] __attribute__((visibility("hidden"), used, cold, noinline)) inline void
__ubsan_handle_type_mismatch_v1_abort(void* data, void* address) {
  const auto* mismatch = static_cast<const ktune_cpu::MismatchData*>(data);
  ktune_cpu_bad_access(0, 1ul << mismatch->log_alignment, reinterpret_cast<unsigned long>(address),
                       mismatch->type->name, mismatch->at.file, mismatch->at.line);
}
[[noreturn]] __attribute__((visibility("hidden"), used, cold, noinline)) inline void __ubsan_handle_out_of_bounds_abort(
    void* data, void* index) {
  const auto* bounds = static_cast<const ktune_cpu::IndexData*>(data);
  ktune_cpu_bad_access(1, 0, reinterpret_cast<unsigned long>(index), bounds->array_type->name, bounds->at.file,
                       bounds->at.line);
}
}
#endif
