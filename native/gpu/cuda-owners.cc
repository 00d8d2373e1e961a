#include "cuda-owners.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>

#include "../fault.h"

namespace weft {

namespace {

constexpr size_t kGranule = 2u << 20;

std::mutex contextGate;
// Leaked on purpose: no destructor may call a driver that is being taken down itself at exit.
auto& contexts = *new std::map<int, GpuContextPtr>;
GpuContextPtr& firstContext = *new GpuContextPtr;

/// Runs a destructor's work with the context current, and lets nothing out.
template <typename Body>
void release(const GpuContext& context, Body&& body) noexcept {
  try {
    CudaCurrent current(context);
    body(Cuda::get());
  } catch (const Fault&) {
    // The GPU or its context is lost; what it held went with it.
  }
}

bool ended(CuResult result, const char* operation) {
  if (result == cu::kNotReady) return false;
  checkCuda(result, operation);
  return true;
}

}  // namespace

GpuContext::GpuContext(int device) : device_(device) {
  WEFT_CU(cuDeviceGet, &deviceHandle_, device);
  WEFT_CU(cuDevicePrimaryCtxRetain, &handle_, deviceHandle_);
}

GpuContextPtr GpuContext::of(int device) {
  std::lock_guard lock(contextGate);
  auto& found = contexts[device];
  if (!found) found = GpuContextPtr(new GpuContext(device));
  if (!firstContext) firstContext = found;
  return found;
}

GpuContextPtr GpuContext::inUse() {
  std::lock_guard lock(contextGate);
  return firstContext;
}

int GpuContext::attribute(cu::DeviceAttribute which) const {
  int value = 0;
  WEFT_CU(cuDeviceGetAttribute, &value, which, deviceHandle_);
  return value;
}

CudaCurrent::CudaCurrent(const GpuContext& context) { WEFT_CU(cuCtxPushCurrent, context.handle()); }

CudaCurrent::~CudaCurrent() {
  CuContext popped;
  Cuda::get().cuCtxPopCurrent(&popped);
}

Stream::Stream(GpuContextPtr context) : context_(std::move(context)) {
  CudaCurrent current(*context_);
  WEFT_CU(cuStreamCreate, &handle_, cu::kStreamNonBlocking);
}

Stream::~Stream() {
  release(*context_, [&](const Cuda& cuda) { cuda.cuStreamDestroy(handle_); });
}

bool Stream::done() const {
  CudaCurrent current(*context_);
  return ended(Cuda::get().cuStreamQuery(handle_), "cuStreamQuery");
}

void Stream::synchronize() const {
  CudaCurrent current(*context_);
  WEFT_CU(cuStreamSynchronize, handle_);
}

Event::Event(GpuContextPtr context, bool timing) : context_(std::move(context)) {
  CudaCurrent current(*context_);
  WEFT_CU(cuEventCreate, &handle_, timing ? 0 : cu::kEventNoTiming);
}

Event::~Event() {
  release(*context_, [&](const Cuda& cuda) { cuda.cuEventDestroy(handle_); });
}

void Event::record(const Stream& stream) {
  CudaCurrent current(*context_);
  WEFT_CU(cuEventRecord, handle_, stream.handle());
}

bool Event::done() const {
  CudaCurrent current(*context_);
  return ended(Cuda::get().cuEventQuery(handle_), "cuEventQuery");
}

void Event::synchronize() const {
  CudaCurrent current(*context_);
  WEFT_CU(cuEventSynchronize, handle_);
}

double Event::milliseconds(const Event& start, const Event& end) {
  CudaCurrent current(*end.context_);
  float value = 0;
  WEFT_CU(cuEventElapsedTime, &value, start.handle_, end.handle_);
  return value;
}

DeviceMemory::DeviceMemory(GpuContextPtr context, size_t bytes) : context_(std::move(context)), bytes_(bytes) {
  CudaCurrent current(*context_);
  size_t free = 0, total = 0;
  WEFT_CU(cuMemGetInfo, &free, &total);
  // Some drivers call a size beyond reason an invalid argument.
  if (bytes > total) throw Fault("cuMemAlloc", cu::kOutOfMemory, "the GPU does not have that much memory");
  allocated_ = std::max<size_t>((bytes + kGranule - 1) / kGranule, 1) * kGranule;
  WEFT_CU(cuMemAlloc, &pointer_, allocated_);
  try {
    // On a stream of its own: a kernel that runs elsewhere on this GPU is not waited for.
    Stream stream(context_);
    WEFT_CU(cuMemsetD32Async, pointer_, 0, allocated_ / sizeof(uint32_t), stream.handle());
    stream.synchronize();
  } catch (...) {
    Cuda::get().cuMemFree(pointer_);
    throw;
  }
}

DeviceMemory::~DeviceMemory() {
  release(*context_, [&](const Cuda& cuda) { cuda.cuMemFree(pointer_); });
}

int DeviceMemory::exportDmabuf() const {
  const Cuda& cuda = Cuda::get();
  if (!cuda.cuMemGetHandleForAddressRange) {
    throw Fault("cuMemGetHandleForAddressRange", cu::kNotSupported, "the driver is older than CUDA 11.7");
  }
  CudaCurrent current(*context_);
  int fd = -1;
  WEFT_CU(cuMemGetHandleForAddressRange, &fd, pointer_, allocated_, cu::kHandleDmabuf, 0);
  return fd;
}

CuIpcHandle DeviceMemory::ipcHandle() const {
  CudaCurrent current(*context_);
  CuIpcHandle handle;
  WEFT_CU(cuIpcGetMemHandle, &handle, pointer_);
  return handle;
}

IpcMemory::IpcMemory(GpuContextPtr context, const CuIpcHandle& handle) : context_(std::move(context)) {
  CudaCurrent current(*context_);
  WEFT_CU(cuIpcOpenMemHandle, &pointer_, handle, cu::kIpcLazyPeerAccess);
}

IpcMemory::~IpcMemory() {
  release(*context_, [&](const Cuda& cuda) { cuda.cuIpcCloseMemHandle(pointer_); });
}

HostRegistration::HostRegistration(GpuContextPtr context, void* start, size_t bytes)
    : context_(std::move(context)), start_(start) {
  CudaCurrent current(*context_);
  WEFT_CU(cuMemHostRegister, start, bytes, cu::kHostPortable | cu::kHostDeviceMap);
}

HostRegistration::~HostRegistration() {
  release(*context_, [&](const Cuda& cuda) { cuda.cuMemHostUnregister(start_); });
}

CuPointer HostRegistration::devicePointer() const {
  CudaCurrent current(*context_);
  CuPointer pointer = 0;
  WEFT_CU(cuMemHostGetDevicePointer, &pointer, start_, 0);
  return pointer;
}

}  // namespace weft
