#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cuda-owners.h"

namespace Napi {
class Value;
}

namespace weft {

/// Memory that copies and fabrics may use: of the host, or of a GPU.
struct Span {
  uint8_t* base = nullptr;  // the device's address where `context` is set: not for this process to read
  size_t bytes = 0;
  GpuContextPtr context;        // null: host memory
  std::shared_ptr<void> owner;  // keeps the memory
};

/// What a JavaScript buffer, of the host or of a GPU, stands for. A Fault when it is closed.
Span spanOf(const Napi::Value& buffer);

}  // namespace weft
