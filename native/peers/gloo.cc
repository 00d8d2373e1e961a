// gloo over its TCP transport. Pairs are made and connected by hand rather than through gloo's rendezvous: Weft's
// ranks know each other already, so one exchange of addresses takes the place of a store.
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/config.h>
#include <gloo/context.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "shim.h"

namespace {

using weft::peers::guarded;

/// A group of ranks whose addresses come from outside. The address of a rank is one field per peer, all of one size;
/// its own field stays empty.
class Group : public gloo::Context {
 public:
  explicit Group(const weft_peer_setup& setup) : gloo::Context(setup.rank, setup.size) {
    setTimeout(std::chrono::milliseconds(setup.timeoutMs));
    gloo::transport::tcp::attr attributes;
    attributes.iface = setup.networkInterface;
    device_ = gloo::transport::tcp::CreateDevice(attributes);
    transportContext_ = device_->createContext(rank, size);
    transportContext_->setTimeout(getTimeout());
    for (int peer = 0; peer < size; peer++) {
      if (peer == rank) continue;
      auto bytes = transportContext_->createPair(peer)->address().bytes();
      fieldBytes_ = bytes.size();
      address_.resize(fieldBytes_ * size);
      std::copy(bytes.begin(), bytes.end(), address_.begin() + fieldBytes_ * peer);
    }
  }

  const std::vector<char>& address() const { return address_; }

  void connect(const char* const* addresses, const size_t* lengths) {
    for (int peer = 0; peer < size; peer++) {
      if (peer == rank) continue;
      if (lengths[peer] != address_.size()) throw std::runtime_error("ranks disagree about the size of addresses");
      const char* field = addresses[peer] + fieldBytes_ * rank;
      transportContext_->getPair(peer)->connect(std::vector<char>(field, field + fieldBytes_));
    }
  }

 private:
  size_t fieldBytes_ = 0;
  std::vector<char> address_;
};

struct Peer {
  std::shared_ptr<Group> group;
  uint32_t tag = 0;

  void meet() {
    gloo::BarrierOptions options(group);
    options.setTag(tag++);
    gloo::barrier(options);
  }

  void exchange(const weft_peer_blocks& blocks) {
    auto* source = static_cast<char*>(const_cast<void*>(blocks.source));
    auto* target = static_cast<char*>(blocks.target);
    size_t ranks = static_cast<size_t>(group->size);
    if (blocks.uniform) {
      gloo::AlltoallOptions options(group);
      options.setInput(source, blocks.sendBytes[0] * ranks);
      options.setOutput(target, blocks.receiveBytes[0] * ranks);
      options.setTag(tag++);
      gloo::alltoall(options);
      return;
    }
    gloo::AlltoallvOptions options(group);
    options.setInput(source, std::vector<int64_t>(blocks.sendBytes, blocks.sendBytes + ranks));
    options.setOutput(target, std::vector<int64_t>(blocks.receiveBytes, blocks.receiveBytes + ranks));
    options.setTag(tag++);
    gloo::alltoallv(options);
  }
};

void version(char* text, size_t capacity) {
  std::snprintf(text, capacity, "gloo %d.%d.%d", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR, GLOO_VERSION_PATCH);
}

void* open(const weft_peer_setup* setup, char* error) {
  return guarded(error, static_cast<void*>(nullptr), [&]() -> void* {
    auto peer = std::make_unique<Peer>();
    peer->group = std::make_shared<Group>(*setup);
    return peer.release();
  });
}

void address(void* peer, const char** bytes, size_t* length) {
  const auto& own = static_cast<Peer*>(peer)->group->address();
  *bytes = own.data();
  *length = own.size();
}

int connect(void* peer, const char* const* addresses, const size_t* lengths, char* error) {
  return guarded(error, -1, [&] {
    static_cast<Peer*>(peer)->group->connect(addresses, lengths);
    return 0;
  });
}

int exchange(void* handle, const weft_peer_blocks* blocks, double* nanoseconds, char* error) {
  return guarded(error, -1, [&] {
    auto* peer = static_cast<Peer*>(handle);
    peer->meet();
    double start = weft::peers::nanosecondsNow();
    peer->exchange(*blocks);
    *nanoseconds = weft::peers::nanosecondsNow() - start;
    peer->meet();
    return 0;
  });
}

void close(void* handle) {
  std::unique_ptr<Peer> peer(static_cast<Peer*>(handle));
  char ignored[WEFT_PEER_ERROR_BYTES];
  guarded(ignored, 0, [&] {
    peer->group->closeConnections();
    return 0;
  });
}

}  // namespace

WEFT_PEER_EXPORT const weft_peer_table* weft_peer() {
  static const weft_peer_table table = {WEFT_PEER_INTERFACE, version, open, address, connect, exchange, close};
  return &table;
}
