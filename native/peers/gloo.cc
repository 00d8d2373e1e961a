// gloo over its TCP transport. Pairs are made and connected by hand rather than through gloo's rendezvous: Weft's
// ranks know each other already, so one exchange of addresses takes the place of a store.
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/config.h>
#include <gloo/context.h>
#include <gloo/math.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/types.h>

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

/// Not gloo's own sum: its float16 is not assigned where the bits that were there equal the number of the new ones.
void addHalves(void* into, const void* a, const void* b, size_t count) {
  auto* sums = static_cast<gloo::float16*>(into);
  auto* left = static_cast<const gloo::float16*>(a);
  auto* right = static_cast<const gloo::float16*>(b);
  for (size_t i = 0; i < count; i++) {
    sums[i].x = gloo::cpu_float2half_rn(gloo::cpu_half2float(left[i]) + gloo::cpu_half2float(right[i])).x;
  }
}

struct Peer {
  std::shared_ptr<Group> group;
  uint32_t tag = 0;

  void meet() {
    gloo::BarrierOptions options(group);
    options.setTag(tag++);
    gloo::barrier(options);
  }

  void exchange(const weft_peer_collective& one) {
    auto* source = static_cast<char*>(const_cast<void*>(one.source));
    auto* target = static_cast<char*>(one.target);
    size_t ranks = static_cast<size_t>(group->size);
    if (one.uniform) {
      gloo::AlltoallOptions options(group);
      options.setInput(source, one.sendBytes[0] * ranks);
      options.setOutput(target, one.receiveBytes[0] * ranks);
      options.setTag(tag++);
      gloo::alltoall(options);
      return;
    }
    gloo::AlltoallvOptions options(group);
    options.setInput(source, std::vector<int64_t>(one.sendBytes, one.sendBytes + ranks));
    options.setOutput(target, std::vector<int64_t>(one.receiveBytes, one.receiveBytes + ranks));
    options.setTag(tag++);
    gloo::alltoallv(options);
  }

  using Add = void (*)(void*, const void*, const void*, size_t);

  template <typename T>
  void reduce(const weft_peer_collective& one, Add add) {
    gloo::AllreduceOptions options(group);
    options.setInput(static_cast<T*>(const_cast<void*>(one.source)), one.bytes / sizeof(T));
    options.setOutput(static_cast<T*>(one.target), one.bytes / sizeof(T));
    options.setReduceFunction(add);
    options.setTag(tag++);
    gloo::allreduce(options);
  }

  void reduce(const weft_peer_collective& one) {
    switch (one.type) {
      case WEFT_PEER_FLOAT32: return reduce<float>(one, &gloo::sum<float>);
      case WEFT_PEER_FLOAT16: return reduce<gloo::float16>(one, addHalves);
      case WEFT_PEER_INT32: return reduce<int32_t>(one, &gloo::sum<int32_t>);
      default: throw std::runtime_error("gloo cannot add numbers of this type");
    }
  }

  void gather(const weft_peer_collective& one) {
    gloo::AllgatherOptions options(group);
    options.setOutput(static_cast<char*>(one.target), one.bytes * static_cast<size_t>(group->size));
    options.setTag(tag++);
    gloo::allgather(options);
  }

  void broadcast(const weft_peer_collective& one) {
    gloo::BroadcastOptions options(group);
    void* buffer = group->rank == one.root ? const_cast<void*>(one.source) : one.target;
    options.setOutput(static_cast<char*>(buffer), one.bytes);
    options.setRoot(one.root);
    options.setTag(tag++);
    gloo::broadcast(options);
  }

  void perform(const weft_peer_collective& one) {
    switch (one.kind) {
      case WEFT_PEER_ALLTOALLV: return exchange(one);
      case WEFT_PEER_ALLREDUCE: return reduce(one);
      case WEFT_PEER_ALLGATHER: return gather(one);
      case WEFT_PEER_BROADCAST: return broadcast(one);
      case WEFT_PEER_REDUCE_SCATTER: throw std::runtime_error("gloo has no out-of-place reduce-scatter");
    }
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

int run(void* handle, const weft_peer_collective* collective, uint64_t iterations, uint64_t batch, double* nanoseconds,
        char* error) {
  return guarded(error, -1, [&] {
    auto* peer = static_cast<Peer*>(handle);
    weft::peers::placeOwnBlock(*collective, peer->group->rank);
    peer->meet();
    weft::peers::timeBatches(iterations, batch, nanoseconds, [&](uint64_t count) {
      for (uint64_t i = 0; i < count; i++) peer->perform(*collective);
    });
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
  static const weft_peer_table table = {WEFT_PEER_INTERFACE, version, open, address, connect, run, close};
  return &table;
}
