// Compiles only if our declarations of CUDA's driver agree with those of its own header.
#include "../../../native/gpu/cuda.h"

#include <string_view>
#include <type_traits>

namespace weft {

#define DECLARE(name, symbol, parameters) using Ours_##name = CuResult parameters;
WEFT_CUDA_REQUIRED(DECLARE)
WEFT_CUDA_OPTIONAL(DECLARE)

}  // namespace weft

// Renames most functions to their newest version by macro: from here on `name` in the tables is that version.
#include <cuda.h>

namespace weft {

template <typename A, typename B>
constexpr bool alike() {
  if constexpr (std::is_pointer_v<A> || std::is_pointer_v<B>) {
    return std::is_pointer_v<A> && std::is_pointer_v<B>;
  } else {
    return sizeof(A) == sizeof(B) && std::is_class_v<A> == std::is_class_v<B>;
  }
}

template <typename Ours, typename Theirs>
struct Same : std::false_type {};
template <typename R, typename S, typename... A, typename... B>
  requires(sizeof...(A) == sizeof...(B))
struct Same<R(A...), S(B...)> : std::bool_constant<(sizeof(R) == sizeof(S)) && (alike<A, B>() && ...)> {};

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
// Its second version is the first: only the set of errors it may give differs, and old drivers lack it.
constexpr bool renamedOnly(std::string_view name) { return name == "cuEventElapsedTime_v2"; }

#define COMPARE(name, symbol, parameters)                              \
  static_assert(Same<Ours_##name, decltype(::name)>::value, TEXT(name)); \
  static_assert(std::string_view(symbol) == TEXT(name) || renamedOnly(TEXT(name)), TEXT(name));
WEFT_CUDA_REQUIRED(COMPARE)
WEFT_CUDA_OPTIONAL(COMPARE)

#define SAME_VALUE(ours, theirs) static_assert(static_cast<int>(cu::ours) == static_cast<int>(theirs))
SAME_VALUE(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME_VALUE(kNoDevice, CUDA_ERROR_NO_DEVICE);
SAME_VALUE(kNotReady, CUDA_ERROR_NOT_READY);
SAME_VALUE(kNotSupported, CUDA_ERROR_NOT_SUPPORTED);
SAME_VALUE(kMultiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME_VALUE(kIntegrated, CU_DEVICE_ATTRIBUTE_INTEGRATED);
SAME_VALUE(kL2CacheBytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME_VALUE(kThreadsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
SAME_VALUE(kCopyEngines, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
SAME_VALUE(kUnifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
SAME_VALUE(kCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_VALUE(kCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_VALUE(kHostNativeAtomics, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
SAME_VALUE(kHostPointerForRegistered, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
SAME_VALUE(kGpuDirectRdma, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED);
SAME_VALUE(kDmabuf, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED);
SAME_VALUE(kIpcEvents, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED);
SAME_VALUE(kSyncMemops, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
SAME_VALUE(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME_VALUE(kEventNoTiming, CU_EVENT_DISABLE_TIMING);
SAME_VALUE(kHostPortable, CU_MEMHOSTREGISTER_PORTABLE);
SAME_VALUE(kHostDeviceMap, CU_MEMHOSTREGISTER_DEVICEMAP);
SAME_VALUE(kIpcLazyPeerAccess, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
SAME_VALUE(kHandleDmabuf, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD);
SAME_VALUE(kJitErrorLog, CU_JIT_ERROR_LOG_BUFFER);
SAME_VALUE(kJitErrorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);

}  // namespace weft

int main() { return 0; }
