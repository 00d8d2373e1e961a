#pragma once
#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft {

struct Operation;
struct Region;

/// Who is told that an operation ended. Called from inside Port::drain, on the thread that drives the port.
class Completer {
 public:
  virtual void completed(Operation& operation, uint64_t bytes) = 0;
  /// `text` is the provider's own.
  virtual void failed(Operation& operation, int code, const std::string& text) = 0;

 protected:
  ~Completer() = default;
};

enum class OperationKind : uint8_t { Write, Send, Recv, Read };

/// One transfer as libfabric knows it: its address is the context of the call, so it must not move in flight. The
/// fields of a message share one cache line; those that only writes and reads use are in the next.
struct alignas(64) Operation {
  fi_context2 context{};  // first, and large enough for providers that ask for FI_CONTEXT or FI_CONTEXT2
  Completer* completer = nullptr;
  OperationKind kind = OperationKind::Write;
  bool hasData = false;    // a write that carries an immediate (zero is a valid one)
  bool delivered = false;  // completes only when the peer has the bytes
  uint16_t token = 0;      // of a write whose target acknowledges it; 0: none
  uint32_t data = 0;
  uint32_t endpoint = 0;
  uint32_t peer = 0;
  uint32_t id = 0;
  Region* region = nullptr;  // what `buffer` lies in; it stays open while this is in flight
  void* buffer = nullptr;
  size_t bytes = 0;
  void* descriptor = nullptr;
  uint64_t remoteAddress = 0;
  uint64_t remoteKey = 0;
  uint8_t* base = nullptr;   // of the plan's buffer and of the peer's: chunks lie at offsets
  uint64_t remoteBase = 0;
  Operation* next = nullptr;  // behind it in a Backlog
};

}  // namespace weft
