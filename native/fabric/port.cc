#include "driving.h"

#include <cstring>
#include <optional>

#include "../fault.h"

namespace weft {

Port::Port() = default;
Port::~Port() { close(); }

void Port::close() {
  std::optional<CudaCurrent> current;
  try {
    if (context_) current.emplace(*context_);
  } catch (const Fault&) {
    // The GPU was lost: what the provider holds of it went with it.
  }
  // Registrations belong to domains and go first.
  regions_.clear();
  remotes_.clear();
  endpoints_.clear();
}

ssize_t Port::tryWrite(Endpoint& endpoint, Operation& operation) {
  // Nothing needs delivering in an empty write, and shm 1.17 never completes one that asks for it.
  bool delivered = operation.delivered && operation.bytes > 0;
  if (delivered && endpoint.acknowledged) return acknowledgements_->write(endpoint, operation);
  uint64_t flags = (delivered ? FI_DELIVERY_COMPLETE : 0) | (operation.hasData ? FI_REMOTE_CQ_DATA : 0);
  return writeNow(endpoint, operation, flags, operation.data);
}

ssize_t Port::writeNow(Endpoint& endpoint, Operation& operation, uint64_t flags, uint32_t data) {
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

ssize_t Port::receivePooled(Endpoint& endpoint, Operation& operation) {
  if (endpoint.pool->owns(operation)) {
    return fi_recv(endpoint.ep, operation.buffer, operation.bytes, operation.descriptor, FI_ADDR_UNSPEC, &operation.context);
  }
  operation.region->inFlight++;
  endpoint.pool->expect(operation);
  return 1;
}

Counter& Port::addCounter(uint32_t source, uint32_t slot) {
  if (source >= counters_.size()) counters_.resize(source + 1);
  auto& slots = counters_[source];
  if (slot >= slots.size()) slots.resize(slot + 1);
  return *(slots[slot] = &madeCounters_.emplace_back());
}

void Port::refused(Endpoint& endpoint, Operation& operation, ssize_t result) {
  if (result > 0) return;  // taken by a pool
  if (result != -FI_EAGAIN) check(result, "post");
  operation.region->inFlight++;
  endpoint.backlog.push(operation);
}

// Queues open and close meanwhile, so the list is looked at again each time.
size_t Port::retry(Endpoint& endpoint) {
  Backlog& backlog = endpoint.backlog;
  size_t failures = 0;
  for (size_t i = 0; i < backlog.open().size(); i++) {
    Backlog::Key key = backlog.open()[i];
    while (Operation* oldest = backlog.oldest(key)) {
      if (!repost(endpoint, *oldest, failures)) break;
    }
  }
  return failures;
}

void Port::madeRoom(Endpoint& endpoint, const Operation& completed) {
  size_t failures = 0;  // their completers know
  if (Operation* oldest = endpoint.backlog.oldest(Backlog::keyOf(completed))) repost(endpoint, *oldest, failures);
}

bool Port::repost(Endpoint& endpoint, Operation& operation, size_t& failures) {
  Endpoint::Queue& queue = endpoint.queueOf(operation);
  if (queue.inFlight >= queue.limit) return false;
  // A pool takes whatever it is given, and its completer may post it again before tryPost returns.
  bool pooled = endpoint.pool && operation.kind == OperationKind::Recv && !endpoint.pool->owns(operation);
  Backlog::Key key = Backlog::keyOf(operation);
  if (pooled) endpoint.backlog.pop(key);
  ssize_t result = tryPost(endpoint, operation);
  if (result == -FI_EAGAIN) return false;
  if (!pooled) endpoint.backlog.pop(key);
  if (result == 0) {
    queue.inFlight++;
  } else if (result == kNothingToDo) {
    operation.region->inFlight--;
    operation.completer->completed(operation, 0);
  } else if (result > 0) {
    operation.region->inFlight--;  // of the queue; the pool has counted it again
  } else {
    failures++;
    operation.region->inFlight--;
    operation.completer->failed(operation, static_cast<int>(-result), Library::get().strerror(static_cast<int>(-result)));
  }
  return true;
}

bool Port::cancel(Operation& operation) {
  Endpoint& endpoint = *endpoints_[operation.endpoint];
  if (endpoint.backlog.remove(operation)) {
    operation.region->inFlight--;
  } else if (!endpoint.pool || !endpoint.pool->forget(operation)) {
    return operation.kind == OperationKind::Recv && endpoint.recalls() && fi_cancel(&endpoint.ep->fid, &operation.context) == 0;
  }
  operation.completer->failed(operation, FI_ECANCELED, Library::get().strerror(FI_ECANCELED));
  return true;
}

void Port::misdirected(Operation& operation, uint32_t source, uint64_t bytes) {
  if (endpoints_[operation.endpoint]->pool) {
    operation.peer = source;  // the pool sorts
    return operation.completer->completed(operation, bytes);
  }
  operation.completer->failed(operation, FI_EOTHER,
                              "a message from rank " + std::to_string(source) + " matched the receive for rank " +
                                  std::to_string(operation.peer) + ": this provider has no directed receives");
}

void Port::readEvents() {
  for (const auto& endpoint : endpoints_) {
    if (!endpoint->eq) continue;
    uint32_t event;
    fi_eq_entry entry;
    if (fi_eq_read(endpoint->eq, &event, &entry, sizeof(entry), 0) != -FI_EAVAIL) continue;
    fi_eq_err_entry error{};
    if (fi_eq_readerr(endpoint->eq, &error, 0) < 0) continue;
    faults.push_back({endpoint->index, error.err, Library::get().strerror(error.err)});
  }
}

size_t Port::readError(Endpoint& endpoint, ssize_t answer) {
  if (answer != -FI_EAVAIL) {
    faults.push_back({endpoint.index, static_cast<int>(-answer), Library::get().strerror(static_cast<int>(-answer))});
    return 1;
  }
  fi_cq_err_entry error{};
  ssize_t result = fi_cq_readerr(endpoint.cq, &error, 0);
  if (result <= 0) return 0;  // announced and not there: no progress, or nobody would ever time out
  int code = error.err;
  std::string text = Library::get().strerror(code);
  char buffer[256] = {0};
  const char* detail = fi_cq_strerror(endpoint.cq, error.prov_errno, error.err_data, buffer, sizeof(buffer));
  if (detail && *detail && text != detail) text += std::string(" (") + detail + ")";
  if (!error.op_context) {
    faults.push_back({endpoint.index, code, text});
    return 1;
  }
  auto& operation = *static_cast<Operation*>(error.op_context);
  endpoint.queueOf(operation).inFlight--;
  operation.region->inFlight--;
  operation.completer->failed(operation, code, text);
  return 1;
}

}  // namespace weft
