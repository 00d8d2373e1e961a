#include "span.h"

#include "../fault.h"
#include "../memory/memory.h"
#include "device-memory.h"

namespace weft {

Span spanOf(const Napi::Value& buffer) {
  auto object = buffer.IsObject() ? buffer.As<Napi::Object>() : Napi::Object::New(buffer.Env());
  if (object.CheckTypeTag(&Memory::kTag)) {
    auto mapping = Memory::mappingOf(object);
    return {mapping->data(), mapping->bytes(), nullptr, mapping};
  }
  if (object.CheckTypeTag(&DeviceMemoryObject::kTag)) {
    auto block = DeviceMemoryObject::Unwrap(object)->block();
    const DeviceMemory& memory = block->memory;
    return {reinterpret_cast<uint8_t*>(memory.pointer()), memory.bytes(), memory.context(), block};
  }
  throw Napi::TypeError::New(buffer.Env(), "not a buffer");
}

}  // namespace weft
