#include "cuda.h"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <mutex>

#include "../fault.h"
#include "../signal-guard.h"

namespace weft {

namespace {

std::mutex gate;
std::atomic<const Cuda*> current{nullptr};  // never freed: threads may use it until the process ends

void* required(void* handle, const char* symbol) {
  if (void* found = dlsym(handle, symbol)) return found;
  throw Fault("dlsym", ENOSYS, std::string(symbol) + " is missing from the CUDA driver");
}

void resolve(Cuda& cuda, void* handle) {
#define WEFT_CUDA_REQUIRE(name, symbol, parameters) \
  cuda.name = reinterpret_cast<decltype(cuda.name)>(required(handle, symbol));
#define WEFT_CUDA_TRY(name, symbol, parameters) \
  cuda.name = reinterpret_cast<decltype(cuda.name)>(dlsym(handle, symbol));
  WEFT_CUDA_REQUIRED(WEFT_CUDA_REQUIRE)
  WEFT_CUDA_OPTIONAL(WEFT_CUDA_TRY)
#undef WEFT_CUDA_REQUIRE
#undef WEFT_CUDA_TRY
}

void checkWith(const Cuda& cuda, CuResult result, const char* operation) {
  if (result != cu::kSuccess) throw Fault(operation, result, cudaText(cuda, result));
}

void initialise(Cuda& cuda) {
  // The version is known before the driver is initialised: an old driver is then named as such.
  checkWith(cuda, cuda.cuDriverGetVersion(&cuda.driverVersion), "cuDriverGetVersion");
  if (cuda.driverVersion < kOldestCudaDriver) {
    throw Fault("cuDriverGetVersion", ENOSYS,
                "the driver supports CUDA " + std::to_string(cuda.driverVersion / 1000) + "." +
                    std::to_string(cuda.driverVersion % 1000 / 10));
  }
  checkWith(cuda, cuda.cuInit(0), "cuInit");
  checkWith(cuda, cuda.cuDeviceGetCount(&cuda.devices), "cuDeviceGetCount");
}

}  // namespace

const Cuda& Cuda::open(const std::string& path) {
  std::lock_guard lock(gate);
  if (const Cuda* cuda = current.load()) {
    if (cuda->path == path) return *cuda;
    throw Fault("dlopen", EBUSY, "already using " + cuda->path);
  }
  SignalGuard guard;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw Fault("dlopen", ENOENT, dlerror());
  auto* cuda = new Cuda;
  try {
    cuda->path = path;
    resolve(*cuda, handle);
    initialise(*cuda);
  } catch (...) {
    delete cuda;  // the library itself stays loaded: a driver that failed to start is not safely unloaded
    throw;
  }
  Dl_info where;
  bool known = dladdr(reinterpret_cast<void*>(cuda->cuInit), &where) && where.dli_fname;
  cuda->file = known ? where.dli_fname : path;
  current.store(cuda);
  return *cuda;
}

const Cuda& Cuda::get() {
  const Cuda* cuda = current.load();
  if (!cuda) throw Fault("cuda", ENODEV, "no GPU has been opened");
  return *cuda;
}

std::string cudaText(const Cuda& cuda, CuResult result) {
  const char* name = nullptr;
  const char* words = nullptr;
  cuda.cuGetErrorName(result, &name);
  cuda.cuGetErrorString(result, &words);
  if (!name) return "CUDA error " + std::to_string(result);
  return words ? std::string(name) + ": " + words : name;
}

void checkCuda(CuResult result, const char* operation) { checkWith(Cuda::get(), result, operation); }

}  // namespace weft
