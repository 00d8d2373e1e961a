// GPU memory as JavaScript sees it: allocate, fill, verify, copy, export, close.
#include "device-memory.h"

#include "../binding.h"
#include "gpu-worker.h"
#include "gpu-timing.h"
#include "../memory/memory.h"

namespace weft {

namespace {

struct Nothing {};

Napi::Value undefined(Napi::Env env, const Nothing&) { return env.Undefined(); }

}  // namespace

Napi::Function DeviceMemoryObject::define(Napi::Env env) {
  using Self = DeviceMemoryObject;
  return DefineClass(env, "DeviceMemory",
                     {
                         InstanceMethod<&Self::fill>("fill"),
                         InstanceMethod<&Self::verify>("verify"),
                         InstanceMethod<&Self::set>("set"),
                         InstanceMethod<&Self::copyToHost>("copyToHost"),
                         InstanceMethod<&Self::copyFromHost>("copyFromHost"),
                         InstanceMethod<&Self::exportDmabuf>("exportDmabuf"),
                         InstanceMethod<&Self::ipcHandle>("ipcHandle"),
                         InstanceMethod<&Self::time>("time"),
                         InstanceMethod<&Self::close>("close"),
                         InstanceAccessor<&Self::pointer>("pointer"),
                         InstanceAccessor<&Self::allocated>("allocated"),
                     });
}

DeviceMemoryObject::DeviceMemoryObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<DeviceMemoryObject>(info) {
  info.This().As<Napi::Object>().TypeTag(&kTag);
  guarded(info.Env(), [&] {
    block_ = std::make_shared<DeviceBlock>(static_cast<int>(size(info[0], "device")), size(info[1], "bytes"));
  });
}

std::shared_ptr<DeviceBlock> DeviceMemoryObject::block() const {
  if (!block_) throw Fault("memory", EBADF, "the buffer is closed");
  return block_;
}

CuPointer DeviceMemoryObject::range(size_t offset, size_t bytes) const {
  const DeviceMemory& memory = block()->memory;
  if (offset > memory.bytes() || bytes > memory.bytes() - offset) {
    throw Fault("memory", ERANGE, "the range is outside the buffer");
  }
  return memory.pointer() + offset;
}

Napi::Value DeviceMemoryObject::fill(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    size_t bytes = size(info[1], "bytes"), seed = size(info[2], "seed"), position = size(info[3], "position");
    CuPointer data = range(size(info[0], "offset"), bytes);
    auto work = [=, block = block()] {
      block->pattern.fill(data, bytes, seed, position);
      return Nothing{};
    };
    return GpuWorker<Nothing>::start(info.Env(), work, undefined);
  });
}

Napi::Value DeviceMemoryObject::verify(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    size_t bytes = size(info[1], "bytes"), seed = size(info[2], "seed"), position = size(info[3], "position");
    CuPointer data = range(size(info[0], "offset"), bytes);
    auto work = [=, block = block()] { return block->pattern.verify(data, bytes, seed, position); };
    return GpuWorker<Mismatch>::start(info.Env(), work, toObject);
  });
}

Napi::Value DeviceMemoryObject::set(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    size_t bytes = size(info[1], "bytes");
    auto value = static_cast<uint8_t>(size(info[2], "value"));
    CuPointer data = range(size(info[0], "offset"), bytes);
    auto work = [=, block = block()] {
      block->pattern.set(data, bytes, value);
      return Nothing{};
    };
    return GpuWorker<Nothing>::start(info.Env(), work, undefined);
  });
}

/// (offset, bytes, host memory, host offset)
Napi::Value DeviceMemoryObject::copy(const Napi::CallbackInfo& info, bool toHost) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    size_t bytes = size(info[1], "bytes"), hostOffset = size(info[3], "host offset");
    CuPointer data = range(size(info[0], "offset"), bytes);
    auto mapping = Memory::mappingOf(info[2]);
    if (hostOffset > mapping->bytes() || bytes > mapping->bytes() - hostOffset) {
      throw Fault("memory", ERANGE, "the range is outside the buffer");
    }
    auto work = [=, block = block()] {
      uint8_t* host = mapping->data() + hostOffset;
      if (toHost) {
        block->pattern.copyToHost(host, data, bytes);
      } else {
        block->pattern.copyToDevice(data, host, bytes);
      }
      return Nothing{};
    };
    return GpuWorker<Nothing>::start(info.Env(), work, undefined);
  });
}

Napi::Value DeviceMemoryObject::copyToHost(const Napi::CallbackInfo& info) { return copy(info, true); }
Napi::Value DeviceMemoryObject::copyFromHost(const Napi::CallbackInfo& info) { return copy(info, false); }

Napi::Value DeviceMemoryObject::exportDmabuf(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return Napi::Number::New(info.Env(), block()->memory.exportDmabuf());
  });
}

Napi::Value DeviceMemoryObject::ipcHandle(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    CuIpcHandle handle = block()->memory.ipcHandle();
    auto bytes = Napi::Uint8Array::New(info.Env(), sizeof(handle));
    std::copy_n(reinterpret_cast<const uint8_t*>(handle.reserved), sizeof(handle), bytes.Data());
    return bytes;
  });
}

/// (kind, bytes, repeats, blocks per multiprocessor, threads, host memory)
Napi::Value DeviceMemoryObject::time(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    size_t bytes = size(info[1], "bytes"), repeats = size(info[2], "repeats");
    GpuTiming timing{gpuWorkNamed(info[0].As<Napi::String>().Utf8Value()), range(0, bytes), bytes, repeats,
                     {static_cast<unsigned>(size(info[3], "blocks")), static_cast<unsigned>(size(info[4], "threads"))},
                     nullptr};
    if (info[5].IsObject()) {
      timing.host = Memory::mappingOf(info[5]);
      if (timing.host->bytes() < bytes) {
        throw Fault("memory", ERANGE, "the range is outside the buffer");
      }
    }
    auto work = [timing, block = block()] { return timing.run(*block); };
    return GpuWorker<double>::start(info.Env(), work,
                                    [](Napi::Env env, double ms) { return Napi::Number::New(env, ms); });
  });
}

Napi::Value DeviceMemoryObject::close(const Napi::CallbackInfo& info) {
  block_.reset();
  return info.Env().Undefined();
}

Napi::Value DeviceMemoryObject::pointer(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value { return Napi::BigInt::New(info.Env(), range(0, 0)); });
}

Napi::Value DeviceMemoryObject::allocated(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return Napi::Number::New(info.Env(), static_cast<double>(block()->memory.allocated()));
  });
}

}  // namespace weft
