#pragma once
// CUDA's driver, opened at run time through our own declarations of its stable interface: one build runs with and
// without a GPU, and needs no toolkit. Owners of what the driver gives are in cuda-owners.h.
#include <cstddef>
#include <cstdint>
#include <string>

namespace weft {

using CuResult = int;
using CuDevice = int;
using CuPointer = uint64_t;  // CUdeviceptr: 64 bits on every platform we run on
using CuContext = struct CuContextTag*;
using CuStream = struct CuStreamTag*;
using CuEvent = struct CuEventTag*;
using CuModule = struct CuModuleTag*;
using CuFunction = struct CuFunctionTag*;

/// CUipcMemHandle: passed by value.
struct CuIpcHandle {
  char reserved[64];
};

namespace cu {

enum Result : CuResult { kSuccess = 0, kOutOfMemory = 2, kNoDevice = 100, kNotReady = 600, kNotSupported = 801 };

enum DeviceAttribute : int {
  kMultiprocessors = 16,
  kIntegrated = 18,
  kL2CacheBytes = 38,
  kThreadsPerMultiprocessor = 39,
  kCopyEngines = 40,
  kUnifiedAddressing = 41,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kHostNativeAtomics = 86,
  kHostPointerForRegistered = 91,
  kGpuDirectRdma = 116,
  kDmabuf = 124,
  kIpcEvents = 125,
};

enum PointerAttribute : int { kSyncMemops = 6 };

constexpr unsigned kStreamNonBlocking = 1;
constexpr unsigned kEventNoTiming = 2;
constexpr unsigned kHostPortable = 1, kHostDeviceMap = 2;
constexpr unsigned kIpcLazyPeerAccess = 1;
constexpr int kHandleDmabuf = 1;
constexpr int kJitErrorLog = 5, kJitErrorLogBytes = 6;

}  // namespace cu

/// name in our table, symbol in the library, parameters. The symbols carry the version of the types above; they have
/// not changed since CUDA 11.0.
#define WEFT_CUDA_REQUIRED(F)                                                                                    \
  F(cuInit, "cuInit", (unsigned flags))                                                                          \
  F(cuDriverGetVersion, "cuDriverGetVersion", (int* version))                                                    \
  F(cuGetErrorName, "cuGetErrorName", (CuResult error, const char** text))                                       \
  F(cuGetErrorString, "cuGetErrorString", (CuResult error, const char** text))                                   \
  F(cuDeviceGetCount, "cuDeviceGetCount", (int* count))                                                          \
  F(cuDeviceGet, "cuDeviceGet", (CuDevice * device, int ordinal))                                                \
  F(cuDeviceGetName, "cuDeviceGetName", (char* name, int bytes, CuDevice device))                                \
  F(cuDeviceGetPCIBusId, "cuDeviceGetPCIBusId", (char* id, int bytes, CuDevice device))                          \
  F(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int* value, int attribute, CuDevice device))                  \
  F(cuDeviceTotalMem, "cuDeviceTotalMem_v2", (size_t* bytes, CuDevice device))                                   \
  F(cuDeviceCanAccessPeer, "cuDeviceCanAccessPeer", (int* can, CuDevice device, CuDevice peer))                  \
  F(cuDeviceGetP2PAttribute, "cuDeviceGetP2PAttribute",                                                          \
    (int* value, int attribute, CuDevice from, CuDevice to))                                                     \
  F(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CuContext * context, CuDevice device))                \
  F(cuCtxPushCurrent, "cuCtxPushCurrent_v2", (CuContext context))                                                \
  F(cuCtxPopCurrent, "cuCtxPopCurrent_v2", (CuContext * context))                                                \
  F(cuMemGetInfo, "cuMemGetInfo_v2", (size_t* free, size_t* total))                                              \
  F(cuMemAlloc, "cuMemAlloc_v2", (CuPointer * pointer, size_t bytes))                                            \
  F(cuMemFree, "cuMemFree_v2", (CuPointer pointer))                                                              \
  F(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (CuPointer to, const void* from, size_t bytes, CuStream stream))  \
  F(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void* to, CuPointer from, size_t bytes, CuStream stream))        \
  F(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (CuPointer to, CuPointer from, size_t bytes, CuStream stream))    \
  F(cuMemsetD8Async, "cuMemsetD8Async", (CuPointer to, unsigned char value, size_t count, CuStream stream))      \
  F(cuMemsetD32Async, "cuMemsetD32Async", (CuPointer to, unsigned value, size_t count, CuStream stream))         \
  F(cuMemHostRegister, "cuMemHostRegister_v2", (void* start, size_t bytes, unsigned flags))                      \
  F(cuMemHostUnregister, "cuMemHostUnregister", (void* start))                                                   \
  F(cuMemHostGetDevicePointer, "cuMemHostGetDevicePointer_v2", (CuPointer * pointer, void* host, unsigned flags)) \
  F(cuPointerSetAttribute, "cuPointerSetAttribute", (const void* value, int attribute, CuPointer pointer))       \
  F(cuIpcGetMemHandle, "cuIpcGetMemHandle", (CuIpcHandle * handle, CuPointer pointer))                           \
  F(cuIpcOpenMemHandle, "cuIpcOpenMemHandle_v2", (CuPointer * pointer, CuIpcHandle handle, unsigned flags))      \
  F(cuIpcCloseMemHandle, "cuIpcCloseMemHandle", (CuPointer pointer))                                             \
  F(cuModuleLoadDataEx, "cuModuleLoadDataEx",                                                                    \
    (CuModule * module, const void* image, unsigned options, int* keys, void** values))                          \
  F(cuModuleGetFunction, "cuModuleGetFunction", (CuFunction * function, CuModule module, const char* name))      \
  F(cuLaunchKernel, "cuLaunchKernel",                                                                            \
    (CuFunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,      \
     unsigned blockZ, unsigned sharedBytes, CuStream stream, void** parameters, void** extra))                   \
  F(cuStreamCreate, "cuStreamCreate", (CuStream * stream, unsigned flags))                                       \
  F(cuStreamDestroy, "cuStreamDestroy_v2", (CuStream stream))                                                    \
  F(cuStreamQuery, "cuStreamQuery", (CuStream stream))                                                           \
  F(cuStreamSynchronize, "cuStreamSynchronize", (CuStream stream))                                               \
  F(cuEventCreate, "cuEventCreate", (CuEvent * event, unsigned flags))                                           \
  F(cuEventDestroy, "cuEventDestroy_v2", (CuEvent event))                                                        \
  F(cuEventRecord, "cuEventRecord", (CuEvent event, CuStream stream))                                            \
  F(cuEventQuery, "cuEventQuery", (CuEvent event))                                                               \
  F(cuEventSynchronize, "cuEventSynchronize", (CuEvent event))                                                   \
  F(cuEventElapsedTime, "cuEventElapsedTime", (float* milliseconds, CuEvent start, CuEvent end))

/// Newer than the oldest driver we accept: null where the driver lacks them.
#define WEFT_CUDA_OPTIONAL(F)                                   \
  F(cuMemGetHandleForAddressRange, "cuMemGetHandleForAddressRange", \
    (void* handle, CuPointer pointer, size_t bytes, int type, unsigned long long flags))

/// The opened driver. Everything below `open` may be called from any thread.
struct Cuda {
  std::string path;  // as asked for
  std::string file;  // as the loader found it
  int driverVersion = 0;  // 1000 × major + 10 × minor of the newest CUDA it serves
  int devices = 0;

#define WEFT_CUDA_MEMBER(name, symbol, parameters) CuResult(*name) parameters = nullptr;
  WEFT_CUDA_REQUIRED(WEFT_CUDA_MEMBER)
  WEFT_CUDA_OPTIONAL(WEFT_CUDA_MEMBER)
#undef WEFT_CUDA_MEMBER

  /// Opens `path` and initialises the driver, for the life of the process; a second call must name the same path.
  /// Faults: "dlopen" (no driver), "dlsym" (too old), "cuInit" (with its result), "cuDriverGetVersion" with code
  /// ENOSYS (too old), "cuDeviceGetCount". A fault leaves nothing behind, so the call may be repeated.
  static const Cuda& open(const std::string& path);
  /// The opened driver; a Fault ("cuda", ENODEV) if there is none.
  static const Cuda& get();
};

/// Drivers before this cannot load what Weft ships (CUDA 11.0, driver 450).
constexpr int kOldestCudaDriver = 11000;

/// "CUDA_ERROR_OUT_OF_MEMORY: out of memory"
std::string cudaText(const Cuda& cuda, CuResult result);

/// Throws a Fault (operation, result, cudaText) unless `result` is success. A context error is sticky: every later
/// call on that GPU from this process fails with it too, at once, so no wait built on these calls can hang on it.
void checkCuda(CuResult result, const char* operation);

/// checkCuda(Cuda::get().NAME(arguments), "NAME")
#define WEFT_CU(name, ...) ::weft::checkCuda(::weft::Cuda::get().name(__VA_ARGS__), #name)

}  // namespace weft
