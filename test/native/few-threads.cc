// Loaded before everything else (LD_PRELOAD): of the threads that the addon makes in a process, only the first
// FEW_THREADS can be made. Those of Node and of other libraries are not counted.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  static auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  static std::atomic<int> made{0};
  Dl_info caller;
  bool known = dladdr(__builtin_return_address(0), &caller) != 0 && caller.dli_fname;
  bool counted = known && std::strstr(caller.dli_fname, "weft.node");
  if (counted && ++made > std::atoi(std::getenv("FEW_THREADS"))) return EAGAIN;
  return real(thread, attributes, start, argument);
}
