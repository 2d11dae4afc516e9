#include "device/cpu/kernel_object.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>
#include <utility>

namespace {
/// The loader's own function of the x86-64 ABI: an address in the calling thread's part of a module, which it makes at
/// the first use.
struct TlsIndex {
  std::size_t module;
  std::size_t offset;
};
}  // namespace
extern "C" void* __tls_get_addr(const TlsIndex* index);

namespace ktune::device::cpu {
namespace {

struct TlsSearch {
  const void* table;  ///< an address inside the object
  std::size_t bytes = 0;
  std::size_t module = 0;
};

int find_tls(dl_phdr_info* info, std::size_t, void* search_pointer) {
  auto& search = *static_cast<TlsSearch*>(search_pointer);
  const auto address = reinterpret_cast<ElfW(Addr)>(search.table);
  bool inside = false;
  std::size_t tls_bytes = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const ElfW(Addr) start = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && address >= start && address < start + header.p_memsz) inside = true;
    if (header.p_type == PT_TLS) tls_bytes = header.p_memsz;
  }
  if (!inside) return 0;
  search.bytes = tls_bytes;
  search.module = info->dlpi_tls_modid;
  return 1;
}

}  // namespace

model::Result<KernelObject> KernelObject::load(const std::string& path) {
  KernelObject object;
  object.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object.handle_ == nullptr) {
    const char* why = dlerror();
    return model::fail(model::Outcome::kLaunchFailed, "the compiled kernel cannot be loaded",
                       why == nullptr ? path : why);
  }
  const auto* version = static_cast<const int*>(dlsym(object.handle_, "ktune_cpu_abi_version"));
  object.entries_ = static_cast<const ktune_cpu::Entry*>(dlsym(object.handle_, "ktune_cpu_entries"));
  if (version == nullptr || *version != ktune_cpu::kAbiVersion || object.entries_ == nullptr) {
    return model::fail(model::Outcome::kLaunchFailed, "the compiled kernel is of another version of ktune", path);
  }
  TlsSearch search{object.entries_};
  dl_iterate_phdr(find_tls, &search);
  object.tls_bytes_ = search.bytes;
  object.tls_module_ = search.module;
  return object;
}

KernelObject::~KernelObject() {
  if (handle_ != nullptr) dlclose(handle_);
}

KernelObject::KernelObject(KernelObject&& other) noexcept { *this = std::move(other); }

KernelObject& KernelObject::operator=(KernelObject&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(entries_, other.entries_);
  std::swap(tls_bytes_, other.tls_bytes_);
  std::swap(tls_module_, other.tls_module_);
  return *this;
}

const ktune_cpu::Entry* KernelObject::find(const std::string& kernel) const {
  for (const auto* entry = entries_; entry->name != nullptr; ++entry) {
    if (kernel == entry->name) return entry;
  }
  return nullptr;
}

std::vector<std::string> KernelObject::kernels() const {
  std::vector<std::string> names;
  for (const auto* entry = entries_; entry->name != nullptr; ++entry) names.emplace_back(entry->name);
  return names;
}

std::byte* KernelObject::static_shared() const {
  if (tls_bytes_ == 0) return nullptr;
  const TlsIndex start{tls_module_, 0};
  return static_cast<std::byte*>(__tls_get_addr(&start));
}

}  // namespace ktune::device::cpu
