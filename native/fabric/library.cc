#include "library.h"

#include <dlfcn.h>

#include <mutex>

#include "../fault.h"
#include "../signal-guard.h"

namespace weft {

namespace {

std::mutex gate;
Library opened;

// The version of a symbol that matches the structs we were compiled with; newer libraries keep it and convert.
void* symbol(void* handle, const char* name, const char* version) {
  if (void* found = dlvsym(handle, name, version)) return found;
  if (void* found = dlsym(handle, name)) return found;
  throw Fault("dlsym", ENOENT, std::string(name) + " is missing from the library");
}

}  // namespace

const Library& Library::open(const std::string& path) {
  std::lock_guard lock(gate);
  if (opened.version != 0) {
    if (opened.path == path) return opened;
    throw Fault("dlopen", EBUSY, "already using " + opened.path);
  }
  SignalGuard guard;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw Fault("dlopen", ENOENT, dlerror());
  Library library;
  library.path = path;
  library.getinfo = reinterpret_cast<decltype(library.getinfo)>(symbol(handle, "fi_getinfo", "FABRIC_1.3"));
  library.freeinfo = reinterpret_cast<decltype(library.freeinfo)>(symbol(handle, "fi_freeinfo", "FABRIC_1.3"));
  library.dupinfo = reinterpret_cast<decltype(library.dupinfo)>(symbol(handle, "fi_dupinfo", "FABRIC_1.3"));
  library.fabric = reinterpret_cast<decltype(library.fabric)>(symbol(handle, "fi_fabric", "FABRIC_1.1"));
  library.strerror = reinterpret_cast<decltype(library.strerror)>(symbol(handle, "fi_strerror", "FABRIC_1.0"));
  auto version = reinterpret_cast<decltype(&::fi_version)>(symbol(handle, "fi_version", "FABRIC_1.0"));
  library.version = version();
  // The name given may be found through the loader's search path: report the file that was really opened.
  Dl_info where;
  library.file = dladdr(reinterpret_cast<void*>(version), &where) && where.dli_fname ? where.dli_fname : path;
  opened = library;
  return opened;
}

const Library& Library::get() {
  if (opened.version == 0) throw Fault("dlopen", ENOENT, "libfabric is not loaded");
  return opened;
}

void check(long result, const char* operation) {
  if (result >= 0) return;
  int code = static_cast<int>(-result);
  throw Fault(operation, code, Library::get().strerror(code));
}

}  // namespace weft
