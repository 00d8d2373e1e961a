#pragma once
// Owners of what CUDA's driver gives. All of them: made and destroyed on any thread; made with a Fault on failure;
// their destructors never throw, because a GPU that was lost cannot be told to let go.
#include <memory>
#include <string>

#include "cuda.h"

namespace weft {

/// The primary context of one device: retained once, shared with every library of this process that uses CUDA, and
/// kept until the process ends.
class GpuContext {
 public:
  /// Retained on the first call for this device (a fraction of a second), then the same one.
  static std::shared_ptr<const GpuContext> of(int device);
  /// The first that was retained, or null: host memory is registered with CUDA only where a GPU is in use.
  static std::shared_ptr<const GpuContext> inUse();

  GpuContext(const GpuContext&) = delete;
  GpuContext& operator=(const GpuContext&) = delete;

  CuContext handle() const { return handle_; }
  int device() const { return device_; }
  int attribute(cu::DeviceAttribute which) const;

 private:
  explicit GpuContext(int device);
  int device_;
  CuDevice deviceHandle_ = 0;
  CuContext handle_ = nullptr;
};

using GpuContextPtr = std::shared_ptr<const GpuContext>;

/// Makes a context current on this thread for the life of the guard. Every thread that calls into CUDA needs one,
/// Node's pool threads and the executor's included; guards nest.
class CudaCurrent {
 public:
  explicit CudaCurrent(const GpuContext& context);
  ~CudaCurrent();
  CudaCurrent(const CudaCurrent&) = delete;
  CudaCurrent& operator=(const CudaCurrent&) = delete;
};

/// A stream that does not wait for the default stream. Its calls need no CudaCurrent of their own.
class Stream {
 public:
  explicit Stream(GpuContextPtr context);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  CuStream handle() const { return handle_; }
  const GpuContext& context() const { return *context_; }
  /// True when all work has ended; a Fault when it ended badly. Never waits.
  bool done() const;
  /// Waits for all work; a Fault when it ended badly.
  void synchronize() const;

 private:
  GpuContextPtr context_;
  CuStream handle_ = nullptr;
};

class Event {
 public:
  /// Without timing, queries are cheaper.
  explicit Event(GpuContextPtr context, bool timing = false);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  CuEvent handle() const { return handle_; }
  void record(const Stream& stream);
  /// True when the stream has passed the last record, or nothing was recorded; a Fault when its work ended badly.
  bool done() const;
  void synchronize() const;
  /// Both must have been made with timing, recorded and passed.
  static double milliseconds(const Event& start, const Event& end);

 private:
  GpuContextPtr context_;
  CuEvent handle_ = nullptr;
};

/// Zeroed GPU memory in blocks of its own (a multiple of 2 MiB), so that a DMABUF or an IPC handle of it shows
/// another process nothing else.
class DeviceMemory {
 public:
  DeviceMemory(GpuContextPtr context, size_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  CuPointer pointer() const { return pointer_; }
  size_t bytes() const { return bytes_; }
  size_t allocated() const { return allocated_; }
  const GpuContextPtr& context() const { return context_; }

  /// A DMABUF file descriptor of the whole allocation, the caller's to close; a Fault where driver or GPU cannot.
  int exportDmabuf() const;
  /// A handle that another process opens with IpcMemory.
  CuIpcHandle ipcHandle() const;

 private:
  GpuContextPtr context_;
  CuPointer pointer_ = 0;
  size_t bytes_ = 0;
  size_t allocated_ = 0;
};

/// Memory of another process on the same host, mapped here.
class IpcMemory {
 public:
  IpcMemory(GpuContextPtr context, const CuIpcHandle& handle);
  ~IpcMemory();
  IpcMemory(const IpcMemory&) = delete;
  IpcMemory& operator=(const IpcMemory&) = delete;

  CuPointer pointer() const { return pointer_; }
  const GpuContextPtr& context() const { return context_; }

 private:
  GpuContextPtr context_;
  CuPointer pointer_ = 0;
};

/// Host memory that CUDA has page-locked and mapped, for every context of the process. Must end before the memory.
class HostRegistration {
 public:
  HostRegistration(GpuContextPtr context, void* start, size_t bytes);
  ~HostRegistration();
  HostRegistration(const HostRegistration&) = delete;
  HostRegistration& operator=(const HostRegistration&) = delete;

  /// The address kernels use for the start of the memory.
  CuPointer devicePointer() const;

 private:
  GpuContextPtr context_;
  void* start_ = nullptr;
};

/// The kernel `function` of kernels/ptx/`file`.ptx on this context. A file is loaded on first use and stays; the
/// driver compiles it for the GPU then, which takes a moment the first time on a machine.
CuFunction kernel(const GpuContext& context, const std::string& file, const std::string& function);

/// A kernel of this PTX, which stays loaded until the process ends.
CuFunction loadKernel(const GpuContext& context, const std::string& ptx, const std::string& function);

/// Enqueues a kernel. Arguments are copied before the call returns; their types must be exactly those of the kernel.
template <typename... Arguments>
void launch(CuFunction function, unsigned grid, unsigned block, const Stream& stream, Arguments... arguments) {
  CudaCurrent current(stream.context());
  void* parameters[] = {static_cast<void*>(&arguments)..., nullptr};
  WEFT_CU(cuLaunchKernel, function, grid, 1, 1, block, 1, 1, 0, stream.handle(), parameters, nullptr);
}

}  // namespace weft
