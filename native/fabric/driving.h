#pragma once
// What a port does for every message: posting and reading completion queues. It is in a header so that the compiler
// inlines it into the caller's loop.
#include "../fault.h"
#include "acknowledgements.h"
#include "port.h"
#include "receive-pool.h"

namespace weft {

inline ssize_t Port::writeNow(Endpoint& endpoint, Operation& operation, uint64_t flags, uint32_t data) {
  iovec local{operation.buffer, operation.bytes};
  fi_rma_iov remote{operation.remoteAddress, operation.bytes, operation.remoteKey};
  fi_msg_rma message{};
  message.msg_iov = &local;
  message.desc = &operation.descriptor;
  message.iov_count = 1;
  message.addr = endpoint.peers[operation.peer];
  message.rma_iov = &remote;
  message.rma_iov_count = 1;
  message.context = &operation.context;
  message.data = data;
  return fi_writemsg(endpoint.ep, &message, flags | FI_COMPLETION);
}

inline ssize_t Port::tryWrite(Endpoint& endpoint, Operation& operation) {
  // Nothing needs delivering in an empty write, and shm 1.17 never completes one that asks for it.
  bool delivered = operation.delivered && operation.bytes > 0;
  if (delivered && endpoint.acknowledged) return acknowledgements_->write(endpoint, operation);
  uint64_t flags = (delivered ? FI_DELIVERY_COMPLETE : 0) | (operation.hasData ? FI_REMOTE_CQ_DATA : 0);
  return writeNow(endpoint, operation, flags, operation.data);
}

inline ssize_t Port::tryPost(Endpoint& endpoint, Operation& operation) {
  if (endpoint.pool && operation.kind == OperationKind::Recv) [[unlikely]] return receivePooled(endpoint, operation);
  fi_addr_t peer = endpoint.peers[operation.peer];
  switch (operation.kind) {
    case OperationKind::Recv:
      return fi_recv(endpoint.ep, operation.buffer, operation.bytes, operation.descriptor,
                     endpoint.directed ? peer : FI_ADDR_UNSPEC, &operation.context);
    case OperationKind::Send:
      // Without directed receives the sender's rank rides along, so that a message in the wrong hands is noticed.
      if (endpoint.directed) {
        return fi_send(endpoint.ep, operation.buffer, operation.bytes, operation.descriptor, peer, &operation.context);
      }
      return fi_senddata(endpoint.ep, operation.buffer, operation.bytes, operation.descriptor, operation.data, peer,
                         &operation.context);
    case OperationKind::Write:
      return tryWrite(endpoint, operation);
    case OperationKind::Read:
      if (operation.bytes == 0) return kNothingToDo;
      return fi_read(endpoint.ep, operation.buffer, operation.bytes, operation.descriptor, peer, operation.remoteAddress,
                     operation.remoteKey, &operation.context);
  }
  return -FI_EINVAL;
}

inline bool Port::post(Operation& operation) {
  Endpoint& endpoint = *endpoints_[operation.endpoint];
  ssize_t result = -FI_EAGAIN;
  if (!endpoint.backlog.empty() && endpoint.backlog.has(Backlog::keyOf(operation))) {
    wait(endpoint, operation);  // earlier posts go first
    return false;
  } else if (operation.kind == OperationKind::Send && operation.bytes <= endpoint.injectBytes) {
    fi_addr_t peer = endpoint.peers[operation.peer];
    result = endpoint.directed ? fi_inject(endpoint.ep, operation.buffer, operation.bytes, peer)
                               : fi_injectdata(endpoint.ep, operation.buffer, operation.bytes, operation.data, peer);
    if (result == 0) [[likely]] return true;
  } else if (Endpoint::Queue& queue = endpoint.queueOf(operation); queue.inFlight < queue.limit) [[likely]] {
    result = operation.kind == OperationKind::Write ? tryWrite(endpoint, operation) : tryPost(endpoint, operation);
    if (result == 0) [[likely]] {
      queue.inFlight++;
      operation.region->inFlight++;
      return false;
    }
  }
  if (result == kNothingToDo) return true;
  refused(endpoint, operation, result);
  return false;
}

inline void Port::wait(Endpoint& endpoint, Operation& operation) {
  operation.region->inFlight++;
  endpoint.backlog.push(operation);
}

inline ssize_t Port::repost(Endpoint& endpoint, Operation& operation) {
  Endpoint::Queue& queue = endpoint.queueOf(operation);
  if (queue.inFlight >= queue.limit) return -FI_EAGAIN;
  // A pool takes whatever it is given, and its completer may post it again before tryPost returns.
  bool pooled = endpoint.pool && operation.kind == OperationKind::Recv && !endpoint.pool->owns(operation);
  Backlog::Key key = Backlog::keyOf(operation);
  if (pooled) [[unlikely]] endpoint.backlog.pop(key);
  ssize_t result = tryPost(endpoint, operation);
  if (result == -FI_EAGAIN) return result;
  if (!pooled) endpoint.backlog.pop(key);
  if (result == 0) [[likely]] queue.inFlight++;
  else takenOtherwise(operation, result);
  return result;
}

inline void Port::madeRoom(Endpoint& endpoint, const Operation& completed) {
  if (Operation* oldest = endpoint.backlog.oldest(Backlog::keyOf(completed))) repost(endpoint, *oldest);
}

template <typename Driver>
inline void Port::count(uint32_t data, Driver& driver) {
  Counter& counter = this->counter(data >> 16, data & 0xFFFF);
  if (++counter.arrived == counter.wanted) driver.reached(counter.step);
}

template <typename Driver>
void Port::arrivedUnusual(Endpoint& endpoint, const fi_cq_data_entry& entry, Driver& driver) {
  auto data = static_cast<uint32_t>(entry.data);
  if (endpoint.pool && entry.op_context) endpoint.pool->consumed(*static_cast<Operation*>(entry.op_context));
  if (data & kUserBit) userArrivals.push_back({endpoint.index, data});
  else if (endpoint.acknowledged && Acknowledgements::isToken(data)) acknowledgements_->arrived(endpoint.index, data);
  else count(data, driver);
}

// Providers disagree on flags. EFA of libfabric 1.17 sets FI_WRITE on the target's completion too, with a null
// context, so FI_REMOTE_WRITE is looked at first: it is an arrival whatever else is set. Others set REMOTE_CQ_DATA on
// the initiator's own completion, or nothing else on the target's: then what is initiated here is recognised first,
// and what is neither that nor a receive arrived from outside.
template <typename Driver>
inline void Port::complete(Endpoint& endpoint, const fi_cq_data_entry& entry, Driver& driver) {
  bool remote = entry.flags & (FI_REMOTE_WRITE | FI_REMOTE_READ);
  bool local = !remote && (entry.flags & (FI_SEND | FI_WRITE | FI_READ));
  bool receive = !remote && !local && (entry.flags & FI_RECV);
  if (!local && !receive) {
    auto data = static_cast<uint32_t>(entry.data);
    if ((data & endpoint.unusualBits) != endpoint.usual) return arrivedUnusual(endpoint, entry, driver);
    return count(data, driver);
  }
  auto& operation = *static_cast<Operation*>(entry.op_context);
  endpoint.queueOf(operation).inFlight--;
  operation.region->inFlight--;
  if (receive && !endpoint.directed && (entry.flags & FI_REMOTE_CQ_DATA)) {
    uint32_t source = (entry.data >> 16) & 0x7FFF;
    if (source != operation.peer) [[unlikely]] return misdirected(operation, source, entry.len);
  }
  uint64_t bytes = receive ? entry.len : operation.bytes;
  if (!endpoint.backlog.empty()) madeRoom(endpoint, operation);
  if (operation.completer == &driver) [[likely]] driver.settled(operation, bytes);
  else operation.completer->completed(operation, bytes);
}

/// After an empty look at a queue: over shm a look takes the lock and the memory that a peer needs to post, so looking
/// again at once makes it wait. The pause made round trips of small messages 2 to 7 % faster, and four channels
/// of them 7 %. Measured over shm only; other providers pay the same pause.
inline void letPeersIn() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

template <typename Driver>
inline size_t Port::drain(Driver& driver) {
  size_t seen = 0;
  for (const auto& owned : endpoints_) {
    Endpoint& endpoint = *owned;
    fi_cq_data_entry entries[kBatch];
    ssize_t count = fi_cq_read(endpoint.cq, entries, kBatch);
    if (count > 0) {
      const fi_cq_data_entry* end = entries + count;
      if (chaos) [[unlikely]] chaos->take(endpoint.index, entries, end, endpoint.pool != nullptr);
      else for (const fi_cq_data_entry* entry = entries; entry < end; entry++) complete(endpoint, *entry, driver);
      seen += static_cast<size_t>(count);
    } else if (count != -FI_EAGAIN && count < 0) [[unlikely]] {
      seen += readError(endpoint, count);
    } else {
      letPeersIn();
    }
    if (!endpoint.backlog.empty() && endpoint.retryDue(count > 0)) [[unlikely]] seen += retry(endpoint);
  }
  return chaos ? seen + letThrough(driver) : seen;
}

template <typename Driver>
size_t Port::letThrough(Driver& driver) {
  size_t seen = 0;
  for (Chaos::Held held; chaos->release(held); seen++) complete(*endpoints_[held.endpoint], held.entry, driver);
  return seen;
}

}  // namespace weft
