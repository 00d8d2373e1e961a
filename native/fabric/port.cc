#include "port.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "../fault.h"

namespace weft {

namespace {

constexpr size_t kBatch = 16;

bool isReceive(const Operation& operation) { return operation.kind == OperationKind::Recv; }

}  // namespace

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

uint32_t Port::open(const fi_info* info, bool directed, size_t peersExpected) {
  if (!regions_.empty()) throw Fault("fi_endpoint", EBUSY, "open every NIC before registering memory");
  endpoints_.push_back(std::make_unique<Endpoint>(info, directed, peersExpected));
  return static_cast<uint32_t>(endpoints_.size() - 1);
}

ssize_t Port::tryPost(Endpoint& endpoint, Operation& operation) {
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
    case OperationKind::Write: {
      iovec local{operation.buffer, operation.bytes};
      fi_rma_iov remote{operation.remoteAddress, operation.bytes, operation.remoteKey};
      fi_msg_rma message{};
      message.msg_iov = &local;
      message.desc = &operation.descriptor;
      message.iov_count = 1;
      message.addr = peer;
      message.rma_iov = &remote;
      message.rma_iov_count = 1;
      message.context = &operation.context;
      message.data = operation.data;
      // Nothing needs delivering in an empty write, and shm 1.17 never completes one that asks for it.
      bool delivered = operation.delivered && operation.bytes > 0;
      uint64_t flags = FI_COMPLETION | (delivered ? FI_DELIVERY_COMPLETE : 0) |
                       (operation.hasData ? FI_REMOTE_CQ_DATA : 0);
      return fi_writemsg(endpoint.ep, &message, flags);
    }
  }
  return -FI_EINVAL;
}

bool Port::post(Operation& operation) {
  Endpoint& endpoint = *endpoints_[operation.endpoint];
  if (endpoint.waiting.empty()) {
    if (operation.kind == OperationKind::Send && operation.bytes <= endpoint.injectBytes) {
      fi_addr_t peer = endpoint.peers[operation.peer];
      ssize_t result = endpoint.directed
                           ? fi_inject(endpoint.ep, operation.buffer, operation.bytes, peer)
                           : fi_injectdata(endpoint.ep, operation.buffer, operation.bytes, operation.data, peer);
      if (result == 0) return true;
      if (result != -FI_EAGAIN) check(result, "fi_inject");
    } else {
      size_t& inFlight = isReceive(operation) ? endpoint.receivesInFlight : endpoint.sendsInFlight;
      size_t limit = isReceive(operation) ? endpoint.receiveLimit : endpoint.sendLimit;
      ssize_t result = inFlight < limit ? tryPost(endpoint, operation) : -FI_EAGAIN;
      if (result == 0) {
        inFlight++;
        operation.counted = true;
        operation.region->inFlight++;
        return false;
      }
      if (result != -FI_EAGAIN) check(result, "post");
    }
  }
  operation.region->inFlight++;
  endpoint.waiting.push_back(&operation);
  return false;
}

size_t Port::retry(Endpoint& endpoint) {
  size_t failures = 0;
  while (!endpoint.waiting.empty()) {
    Operation& operation = *endpoint.waiting.front();
    size_t& inFlight = isReceive(operation) ? endpoint.receivesInFlight : endpoint.sendsInFlight;
    size_t limit = isReceive(operation) ? endpoint.receiveLimit : endpoint.sendLimit;
    if (inFlight >= limit) break;
    ssize_t result = tryPost(endpoint, operation);
    if (result == -FI_EAGAIN) {
      // One peer that refuses, perhaps for good, must not hold up the others. Messages keep their order.
      if (operation.kind == OperationKind::Write) {
        endpoint.waiting.pop_front();
        endpoint.waiting.push_back(&operation);
      }
      break;
    }
    endpoint.waiting.pop_front();
    if (result == 0) {
      inFlight++;
      operation.counted = true;
    } else {
      failures++;
      release(operation);
      operation.completer->failed(operation, static_cast<int>(-result), Library::get().strerror(static_cast<int>(-result)));
    }
  }
  return failures;
}

void Port::cancel(Operation& operation) {
  Endpoint& endpoint = *endpoints_[operation.endpoint];
  auto queued = std::find(endpoint.waiting.begin(), endpoint.waiting.end(), &operation);
  if (queued != endpoint.waiting.end()) {
    endpoint.waiting.erase(queued);
    release(operation);
    operation.completer->failed(operation, FI_ECANCELED, Library::get().strerror(FI_ECANCELED));
  } else if (isReceive(operation)) {
    fi_cancel(&endpoint.ep->fid, &operation.context);
  }
}

void Port::release(Operation& operation) {
  if (operation.counted) {
    Endpoint& endpoint = *endpoints_[operation.endpoint];
    (isReceive(operation) ? endpoint.receivesInFlight : endpoint.sendsInFlight)--;
    operation.counted = false;
  }
  operation.region->inFlight--;
}

void Port::arrived(uint32_t index, uint64_t wide) {
  auto data = static_cast<uint32_t>(wide);
  if (data & kUserBit) {
    userArrivals.push_back({index, data});
    return;
  }
  Counter& counter = this->counter(data >> 16, data & 0xFFFF);
  if (++counter.arrived == counter.wanted) reached.push_back(counter.step);
}

// Providers disagree on flags. EFA of libfabric 1.17 sets FI_WRITE on the target's completion too, with a null
// context, so FI_REMOTE_WRITE is looked at first: it is an arrival whatever else is set. Others set REMOTE_CQ_DATA on
// the initiator's own completion, or nothing else on the target's: then what is initiated here is recognised first,
// and what is neither that nor a receive arrived from outside.
void Port::complete(uint32_t index, const fi_cq_data_entry& entry) {
  bool remote = entry.flags & (FI_REMOTE_WRITE | FI_REMOTE_READ);
  bool local = !remote && (entry.flags & (FI_SEND | FI_WRITE | FI_READ));
  bool receive = !remote && !local && (entry.flags & FI_RECV);
  if (!local && !receive) return arrived(index, entry.data);
  auto& operation = *static_cast<Operation*>(entry.op_context);
  release(operation);
  if (receive && !endpoints_[index]->directed && (entry.flags & FI_REMOTE_CQ_DATA)) {
    uint32_t source = (entry.data >> 16) & 0x7FFF;
    if (source != operation.peer) {
      operation.completer->failed(operation, FI_EOTHER,
                                  "a message from rank " + std::to_string(source) + " met the receive for rank " +
                                      std::to_string(operation.peer) + ": this provider has no directed receives");
      return;
    }
  }
  operation.completer->completed(operation, receive ? entry.len : operation.bytes);
}

void Port::readError(uint32_t index) {
  Endpoint& endpoint = *endpoints_[index];
  fi_cq_err_entry error{};
  ssize_t result = fi_cq_readerr(endpoint.cq, &error, 0);
  if (result <= 0) return;
  int code = error.err;
  std::string text = Library::get().strerror(code);
  char buffer[256] = {0};
  const char* detail = fi_cq_strerror(endpoint.cq, error.prov_errno, error.err_data, buffer, sizeof(buffer));
  if (detail && *detail && text != detail) text += std::string(" (") + detail + ")";
  if (!error.op_context) {
    faults.push_back({index, code, text});
    return;
  }
  auto& operation = *static_cast<Operation*>(error.op_context);
  release(operation);
  operation.completer->failed(operation, code, text);
}

size_t Port::drain() {
  size_t seen = 0;
  for (uint32_t index = 0; index < endpoints_.size(); index++) {
    Endpoint& endpoint = *endpoints_[index];
    fi_cq_data_entry entries[kBatch];
    ssize_t count = fi_cq_read(endpoint.cq, entries, kBatch);
    if (count == -FI_EAVAIL) {
      readError(index);
      seen++;
    } else if (count > 0) {
      for (ssize_t i = 0; i < count; i++) {
        if (chaos) chaos->take(index, entries[i]);
        else complete(index, entries[i]);
      }
      seen += static_cast<size_t>(count);
    } else if (count != -FI_EAGAIN && count < 0) {
      faults.push_back({index, static_cast<int>(-count), Library::get().strerror(static_cast<int>(-count))});
      seen++;
    }
    if (!endpoint.waiting.empty()) seen += retry(endpoint);
  }
  if (chaos) {
    for (Chaos::Held held; chaos->release(held);) {
      complete(held.endpoint, held.entry);
      seen++;
    }
  }
  return seen;
}

}  // namespace weft
