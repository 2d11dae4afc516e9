// A library for LD_PRELOAD that makes a healthy machine look faulty, for scripts/fault-check. KTUNE_FAULT says how:
//   no-cupti       libcupti cannot be opened          cupti-version  CUPTI says it is of CUDA 14
//   subscribed     another tool has CUPTI already     no-nvml        libnvidia-ml cannot be opened
//   mig            NVML says that MIG is on           others         NVML counts one more compute process
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static int fault_is(const char* name) {
  const char* fault = getenv("KTUNE_FAULT");
  return fault != NULL && strcmp(fault, name) == 0;
}

static void* real(const char* name) { return dlvsym(RTLD_NEXT, name, "GLIBC_2.34"); }
static void* old_real(const char* name) { return dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5"); }

void* dlopen(const char* file, int flags) {
  static void* (*next)(const char*, int);
  if (next == NULL) next = real("dlopen");
  if (next == NULL) next = old_real("dlopen");
  if (file != NULL && strstr(file, "libcupti") != NULL && fault_is("no-cupti")) file = "libcupti-hidden.so";
  if (file != NULL && strstr(file, "libnvidia-ml") != NULL && fault_is("no-nvml")) file = "libnvidia-ml-hidden.so";
  return next(file, flags);
}

static int later_version(unsigned* version) {
  *version = 140000;
  return 0;
}

static int mig_is_on(void* device, unsigned* now, unsigned* later) {
  (void)device;
  *now = *later = 1;
  return 0;
}

static int (*processes)(void*, unsigned*, void*);
static int one_process_more(void* device, unsigned* count, void* list) {
  const int result = processes(device, count, list);
  if (result == 0) ++*count;  // its entry stays zero: no process has that id
  return result;
}

static void ignore(void* user, int domain, unsigned id, const void* data) {
  (void)user;
  (void)domain;
  (void)id;
  (void)data;
}

void* dlsym(void* library, const char* symbol) {
  static void* (*next)(void*, const char*);
  if (next == NULL) next = real("dlsym");
  if (next == NULL) next = old_real("dlsym");
  void* found = next(library, symbol);
  if (strcmp(symbol, "cuptiGetVersion") == 0 && fault_is("cupti-version")) return (void*)later_version;
  if (strcmp(symbol, "nvmlDeviceGetMigMode") == 0 && fault_is("mig")) return (void*)mig_is_on;
  if (strcmp(symbol, "nvmlDeviceGetComputeRunningProcesses_v3") == 0 && fault_is("others") && found != NULL) {
    processes = found;
    return (void*)one_process_more;
  }
  if (strcmp(symbol, "cuptiSubscribe") == 0 && fault_is("subscribed") && found != NULL) {
    static void* first;
    if (first == NULL) ((int (*)(void**, void*, void*))found)(&first, (void*)ignore, NULL);
  }
  return found;
}
