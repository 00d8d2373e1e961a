#pragma once
#include <napi.h>

#include <memory>

#include "gpu-pattern.h"

namespace weft {

/// DeviceMemory and the stream that works on it, held by JavaScript, by running workers and by registered regions.
struct DeviceBlock {
  DeviceBlock(int device, size_t bytes)
      : memory(GpuContext::of(device), bytes), pattern(memory.context()) {}
  DeviceMemory memory;
  GpuPattern pattern;
};

/// GPU memory owned by JavaScript: `new DeviceMemory(device, bytes)`. Closing lets go of the block, which is freed
/// when its last holder lets go too.
class DeviceMemoryObject : public Napi::ObjectWrap<DeviceMemoryObject> {
 public:
  static constexpr napi_type_tag kTag{0x7d3bb1f24e5049c8, 0xa26c5f0e93d8174b};
  static Napi::Function define(Napi::Env env);
  explicit DeviceMemoryObject(const Napi::CallbackInfo& info);

  /// A Fault (EBADF) when closed.
  std::shared_ptr<DeviceBlock> block() const;

 private:
  CuPointer range(size_t offset, size_t bytes) const;
  Napi::Value copy(const Napi::CallbackInfo& info, bool toHost);

  Napi::Value fill(const Napi::CallbackInfo& info);
  Napi::Value verify(const Napi::CallbackInfo& info);
  Napi::Value set(const Napi::CallbackInfo& info);
  Napi::Value copyToHost(const Napi::CallbackInfo& info);
  Napi::Value copyFromHost(const Napi::CallbackInfo& info);
  Napi::Value exportDmabuf(const Napi::CallbackInfo& info);
  Napi::Value ipcHandle(const Napi::CallbackInfo& info);
  Napi::Value time(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);
  Napi::Value pointer(const Napi::CallbackInfo& info);
  Napi::Value allocated(const Napi::CallbackInfo& info);

  std::shared_ptr<DeviceBlock> block_;
};

}  // namespace weft
