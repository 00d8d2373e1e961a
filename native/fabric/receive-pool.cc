#include "receive-pool.h"

#include <algorithm>
#include <cstring>

#include "../fault.h"
#include "driving.h"

namespace weft {

void ReceivePool::start(Region& region, size_t offset) {
  for (Operation& operation : operations_) {
    operation.completer = this;
    operation.kind = OperationKind::Recv;
    operation.endpoint = endpoint_.index;
    operation.region = &region;
    operation.buffer = region.memory.base + offset;
    operation.bytes = endpoint_.maxMessageBytes;
    operation.descriptor = region.descriptor[endpoint_.index];
    offset += operation.bytes;
    post(operation);
  }
}

void ReceivePool::post(Operation& posted) {
  try {
    port_.post(posted);
  } catch (const Fault& fault) {
    // Not from here: the caller may be in the middle of a completion queue.
    failed(posted, fault.code, fault.text);
  }
}

void ReceivePool::consumed(Operation& posted) {
  endpoint_.receives.inFlight--;
  posted.region->inFlight--;
  post(posted);
}

void ReceivePool::expect(Operation& receive) {
  auto& early = early_[receive.peer];
  if (early.empty()) {
    expected_[receive.peer].push_back(&receive);
    return;
  }
  Message message = early.front();
  early.pop_front();
  hand(receive, message);
}

bool ReceivePool::forget(Operation& receive) {
  auto& expected = expected_[receive.peer];
  auto found = std::find(expected.begin(), expected.end(), &receive);
  if (found == expected.end()) return false;
  expected.erase(found);
  receive.region->inFlight--;
  return true;
}

// Port::complete has put the sender into `peer`.
void ReceivePool::completed(Operation& posted, uint64_t bytes) {
  auto& expected = expected_[posted.peer];
  if (expected.empty()) return early_[posted.peer].push_back({&posted, bytes});
  Operation& receive = *expected.front();
  expected.pop_front();
  hand(receive, {&posted, bytes});
}

void ReceivePool::hand(Operation& receive, const Message& message) {
  receive.region->inFlight--;
  bool fits = message.bytes <= receive.bytes, onGpu = receive.region->memory.context != nullptr;
  if (fits && !onGpu) std::memcpy(receive.buffer, message.posted->buffer, message.bytes);
  post(*message.posted);
  if (!fits) return receive.completer->failed(receive, FI_ETRUNC, Library::get().strerror(FI_ETRUNC));
  if (onGpu) return receive.completer->failed(receive, FI_EOPNOTSUPP, "this NIC cannot receive messages into GPU memory");
  receive.completer->completed(receive, message.bytes);
}

void ReceivePool::failed(Operation& posted, int code, const std::string& text) {
  port_.faults.push_back({posted.endpoint, code, text});
}

}  // namespace weft
