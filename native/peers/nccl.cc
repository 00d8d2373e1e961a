#include "nccl.h"

#include <dlfcn.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "../gpu/cuda-owners.h"
#include "../fault.h"
#include "shim.h"

namespace weft {

namespace {

using peers::guarded;

struct NcclId {
  char internal[128];
};
using NcclComm = struct NcclCommTag*;
constexpr int kInt8 = 0, kInt32 = 2, kFloat16 = 6, kFloat32 = 7, kBfloat16 = 9;  // ncclDataType_t
constexpr int kSum = 0;                                                         // ncclRedOp_t

struct Nccl {
  int (*getVersion)(int* version);
  int (*getUniqueId)(NcclId* id);
  int (*commInitRank)(NcclComm* comm, int size, NcclId id, int rank);
  int (*commDestroy)(NcclComm comm);
  const char* (*errorString)(int result);
  int (*groupStart)();
  int (*groupEnd)();
  int (*send)(const void* from, size_t count, int type, int peer, NcclComm comm, CuStream stream);
  int (*receive)(void* to, size_t count, int type, int peer, NcclComm comm, CuStream stream);
  int (*allReduce)(const void* from, void* to, size_t count, int type, int op, NcclComm comm, CuStream stream);
  int (*allGather)(const void* from, void* to, size_t count, int type, NcclComm comm, CuStream stream);
  int (*reduceScatter)(const void* from, void* to, size_t count, int type, int op, NcclComm comm, CuStream stream);
  int (*broadcast)(const void* from, void* to, size_t count, int type, int root, NcclComm comm, CuStream stream);
  // From 2.28 on; null before.
  int (*allToAll)(const void* from, void* to, size_t count, int type, NcclComm comm, CuStream stream);
  // From 2.13 on; null before.
  const char* (*lastError)(NcclComm comm);
};

Nccl nccl;

void check(int result, const char* operation) {
  if (result == 0) return;
  std::string text = std::string(operation) + ": " + nccl.errorString(result);
  const char* last = nccl.lastError ? nccl.lastError(nullptr) : nullptr;
  if (last && *last) text += std::string(" (") + last + ")";
  throw Fault(operation, result, text);
}

void* device(const DeviceMemory& memory, uint64_t offset) { return reinterpret_cast<void*>(memory.pointer() + offset); }

int typeOf(weft_peer_type type) {
  switch (type) {
    case WEFT_PEER_FLOAT32: return kFloat32;
    case WEFT_PEER_FLOAT16: return kFloat16;
    case WEFT_PEER_BFLOAT16: return kBfloat16;
    case WEFT_PEER_INT32: return kInt32;
    default: return kInt8;
  }
}

struct Group {
  explicit Group(const weft_peer_setup& setup)
      : rank(setup.rank), size(setup.size), context(GpuContext::of(setup.gpu)), stream(context),
        source(context, std::max<uint64_t>(setup.sourceBytes, 1)), target(context, std::max<uint64_t>(setup.targetBytes, 1)),
        token(context, sizeof(int)) {
    // Rank 0 makes the name of the group; the others learn it as its address.
    if (rank == 0) check(nccl.getUniqueId(&id), "ncclGetUniqueId");
  }

  void connect(const char* address, size_t length) {
    if (length != sizeof(id)) throw std::runtime_error("rank 0 sent no NCCL unique id");
    std::copy(address, address + length, id.internal);
    CudaCurrent current(*context);
    check(nccl.commInitRank(&comm, size, id, rank), "ncclCommInitRank");
  }

  void meet() {
    void* token_ = device(token, 0);
    check(nccl.allReduce(token_, token_, 1, kInt32, kSum, comm, stream.handle()), "ncclAllReduce");
    stream.synchronize();
  }

  void exchange(const weft_peer_collective& one) {
    if (one.uniform && nccl.allToAll) {
      check(nccl.allToAll(device(source, 0), device(target, 0), one.sendBytes[0], kInt8, comm, stream.handle()), "ncclAlltoAll");
      return;
    }
    check(nccl.groupStart(), "ncclGroupStart");
    uint64_t from = 0, to = 0;
    for (int peer = 0; peer < size; peer++) {
      uint64_t out = one.sendBytes[peer], in = one.receiveBytes[peer];
      if (out > 0) check(nccl.send(device(source, from), out, kInt8, peer, comm, stream.handle()), "ncclSend");
      if (in > 0) check(nccl.receive(device(target, to), in, kInt8, peer, comm, stream.handle()), "ncclRecv");
      from += out;
      to += in;
    }
    check(nccl.groupEnd(), "ncclGroupEnd");
  }

  void perform(const weft_peer_collective& one) {
    const void* from = device(source, 0);
    void* to = device(target, 0);
    auto queue = stream.handle();
    int type = typeOf(one.type);
    uint64_t count = type == kInt8 ? one.bytes : one.bytes / one.elementBytes;
    switch (one.kind) {
      case WEFT_PEER_ALLTOALLV: return exchange(one);
      case WEFT_PEER_ALLREDUCE:
        return check(nccl.allReduce(from, to, count, type, kSum, comm, queue), "ncclAllReduce");
      case WEFT_PEER_ALLGATHER: {
        const void* own = device(target, one.bytes * static_cast<uint64_t>(rank));
        return check(nccl.allGather(own, to, count, type, comm, queue), "ncclAllGather");
      }
      case WEFT_PEER_REDUCE_SCATTER:
        return check(nccl.reduceScatter(from, to, count, type, kSum, comm, queue), "ncclReduceScatter");
      case WEFT_PEER_BROADCAST: {
        if (rank == one.root) to = device(source, 0);
        return check(nccl.broadcast(from, to, count, type, one.root, comm, queue), "ncclBroadcast");
      }
    }
  }

  void timed(const weft_peer_collective& one, uint64_t iterations, uint64_t batch, double* nanoseconds) {
    CudaCurrent current(*context);
    auto [sourceBytes, targetBytes] = peers::footprintOf(one, rank, size);
    peers::placeOwnBlock(one, rank);
    // What the output held goes along: what does not arrive must not pass.
    if (sourceBytes > 0) WEFT_CU(cuMemcpyHtoDAsync, source.pointer(), one.source, sourceBytes, stream.handle());
    if (targetBytes > 0) WEFT_CU(cuMemcpyHtoDAsync, target.pointer(), one.target, targetBytes, stream.handle());
    meet();
    peers::timeBatches(iterations, batch, nanoseconds, [&](uint64_t count) {
      for (uint64_t i = 0; i < count; i++) perform(one);
      stream.synchronize();
    });
    meet();
    if (targetBytes > 0) WEFT_CU(cuMemcpyDtoHAsync, one.target, target.pointer(), targetBytes, stream.handle());
    stream.synchronize();
  }

  int rank, size;
  GpuContextPtr context;
  Stream stream;
  DeviceMemory source, target, token;
  NcclId id = {};
  NcclComm comm = nullptr;
};

void version(char* text, size_t capacity) {
  int number = 0;
  nccl.getVersion(&number);
  // 2.9 and later: major × 10000 + minor × 100 + patch.
  std::snprintf(text, capacity, "NCCL %d.%d.%d", number / 10000, number / 100 % 100, number % 100);
}

void* open(const weft_peer_setup* setup, char* error) {
  return guarded(error, static_cast<void*>(nullptr), [&]() -> void* { return new Group(*setup); });
}

void address(void* peer, const char** bytes, size_t* length) {
  auto* group = static_cast<Group*>(peer);
  *bytes = group->id.internal;
  *length = group->rank == 0 ? sizeof(group->id) : 0;
}

int connect(void* peer, const char* const* addresses, const size_t* lengths, char* error) {
  return guarded(error, -1, [&] {
    static_cast<Group*>(peer)->connect(addresses[0], lengths[0]);
    return 0;
  });
}

int run(void* peer, const weft_peer_collective* collective, uint64_t iterations, uint64_t batch, double* nanoseconds,
        char* error) {
  return guarded(error, -1, [&] {
    static_cast<Group*>(peer)->timed(*collective, iterations, batch, nanoseconds);
    return 0;
  });
}

void close(void* peer) {
  std::unique_ptr<Group> group(static_cast<Group*>(peer));
  char ignored[WEFT_PEER_ERROR_BYTES];
  guarded(ignored, 0, [&] {
    CudaCurrent current(*group->context);
    if (group->comm) nccl.commDestroy(group->comm);
    return 0;
  });
}

template <typename Function>
void resolve(void* handle, const char* name, Function& into, bool needed = true) {
  into = reinterpret_cast<Function>(dlsym(handle, name));
  if (!into && needed) throw Fault("dlsym", ENOSYS, std::string(name) + " is missing from NCCL");
}

}  // namespace

const weft_peer_table& openNccl(const std::string& path) {
  static const weft_peer_table table = {WEFT_PEER_INTERFACE, version, open, address, connect, run, close};
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw Fault("dlopen", ENOENT, dlerror());
  resolve(handle, "ncclGetVersion", nccl.getVersion);
  resolve(handle, "ncclGetUniqueId", nccl.getUniqueId);
  resolve(handle, "ncclCommInitRank", nccl.commInitRank);
  resolve(handle, "ncclCommDestroy", nccl.commDestroy);
  resolve(handle, "ncclGetErrorString", nccl.errorString);
  resolve(handle, "ncclGroupStart", nccl.groupStart);
  resolve(handle, "ncclGroupEnd", nccl.groupEnd);
  resolve(handle, "ncclSend", nccl.send);
  resolve(handle, "ncclRecv", nccl.receive);
  resolve(handle, "ncclAllReduce", nccl.allReduce);
  resolve(handle, "ncclAllGather", nccl.allGather);
  resolve(handle, "ncclReduceScatter", nccl.reduceScatter);
  resolve(handle, "ncclBroadcast", nccl.broadcast);
  resolve(handle, "ncclAlltoAll", nccl.allToAll, false);
  resolve(handle, "ncclGetLastError", nccl.lastError, false);
  return table;
}

}  // namespace weft
