// What travels between two queue pairs. The initiator opens one stream to each target: messages flow one way,
// acknowledgements and the data of reads the other. A message is cut into segments of at most the device's MTU, which
// may be sent in any order; the target acknowledges a message when all of it has arrived. Both ends run on this
// byte order: the emulator serves one architecture at a time.
#pragma once
#include <cstddef>
#include <cstdint>

namespace efa {

enum class FrameKind : uint8_t { hello = 1, send, write, read_request, read_data, acks };

constexpr uint8_t kFrameImmediate = 1;  // carries an immediate
constexpr uint8_t kFrameCorrupt = 2;    // the sending device damages this segment: one byte arrives flipped

struct Frame {
  FrameKind kind;
  uint8_t flags;
  uint16_t reserved;
  uint32_t length;     // bytes that follow this header
  uint32_t message;    // named by the initiator, once per stream at a time
  uint32_t total;      // bytes of the whole message
  uint64_t address;    // write and read request: in the target's memory; read data: offset in the message
  uint32_t key;        // write and read request: the target's memory key
  uint32_t qkey;
  uint32_t immediate;
  uint32_t padding;
};
static_assert(sizeof(Frame) == 40);

/// First on every stream, so that the target knows who writes.
struct Hello {
  uint32_t magic;
  uint32_t source_qp;
  uint8_t source_gid[16];
};
constexpr uint32_t kHelloMagic = 0x31616665;

struct Ack {
  uint32_t message;
  uint32_t status;
};

constexpr size_t kMaxAcks = 4096;  // in one frame
constexpr uint32_t kLargestPayload = 65536;

}  // namespace efa
