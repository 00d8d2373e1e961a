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
  wait(endpoint, operation);
}

// Queues open and close meanwhile, so the list is looked at again each time.
size_t Port::retry(Endpoint& endpoint) {
  Backlog& backlog = endpoint.backlog;
  size_t failures = 0;
  for (size_t i = 0; i < backlog.open().size(); i++) {
    Backlog::Key key = backlog.open()[i];
    while (Operation* oldest = backlog.oldest(key)) {
      ssize_t result = repost(endpoint, *oldest);
      if (result == -FI_EAGAIN) break;
      failures += result < 0;
    }
  }
  return failures;
}

void Port::takenOtherwise(Operation& operation, ssize_t result) {
  operation.region->inFlight--;  // of the queue; a pool that took it has counted it again
  if (result == kNothingToDo) operation.completer->completed(operation, 0);
  if (result >= 0) return;
  int code = static_cast<int>(-result);
  operation.completer->failed(operation, code, Library::get().strerror(code));
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
