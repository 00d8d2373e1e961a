#include "operations.h"

#include <sched.h>

#include <algorithm>

#include "../fault.h"
#include "driving.h"

namespace weft {

namespace {

constexpr unsigned kSpinsBeforeYield = 400;

// Indices into the command array; src/fabric/command.ts has the same list.
enum Command { Kind, EndpointIndex, Peer, RegionId, Offset, Bytes, Remote, RemoteOffset, Data, Flags };
enum Flag : uint32_t { HasData = 1, Delivered = 2 };
// More than any caller spins: a wrong number must not keep JavaScript's thread for long.
constexpr uint32_t kMostSpins = 1024;

enum RecordKind : uint32_t { Done = 0, Failed = 1, Arrived = 2, EndpointFailed = 3 };

// A number of the command array, which JavaScript may have written anything to.
uint64_t whole(double number, double most) {
  if (!(number >= 0 && number <= most)) throw Fault("post", EINVAL, "a number of the command is out of range");
  return static_cast<uint64_t>(number);
}
uint32_t word(double number) { return static_cast<uint32_t>(whole(number, UINT32_MAX)); }
constexpr double kMostWhole = 9007199254740991.0;

}  // namespace

int32_t Operations::post(Port& port) {
  empty_ = 0;  // something is about to happen: spin again before offering the core
  Operation& operation = take();
  try {
    fill(operation, port);
    if (!port.post(operation)) return static_cast<int32_t>(operation.id);
  } catch (...) {
    release(operation.id);
    throw;
  }
  release(operation.id);
  return -1;
}

void Operations::fill(Operation& operation, Port& port) {
  uint32_t index = word(command_[EndpointIndex]);
  if (index >= port.endpointCount()) throw Fault("post", EINVAL, "no such endpoint");
  Region& region = port.region(word(command_[RegionId]));
  size_t offset = whole(command_[Offset], kMostWhole), bytes = whole(command_[Bytes], kMostWhole);
  if (offset > region.memory.bytes || bytes > region.memory.bytes - offset) {
    throw Fault("post", ERANGE, "the slice is outside its buffer");
  }
  uint32_t peer = word(command_[Peer]);
  if (peer >= port.endpoint(index).peers.size()) throw Fault("post", EINVAL, "no such peer");
  uint32_t flags = word(command_[Flags]);
  operation.kind = static_cast<OperationKind>(whole(command_[Kind], static_cast<double>(OperationKind::Read)));
  operation.endpoint = index;
  operation.peer = peer;
  operation.region = &region;
  operation.buffer = region.memory.base + offset;
  operation.bytes = bytes;
  operation.descriptor = region.descriptor.at(index);
  operation.hasData = flags & HasData;
  operation.delivered = flags & Delivered;
  operation.data = word(command_[Data]);
  if (operation.kind != OperationKind::Write && operation.kind != OperationKind::Read) return;
  if (operation.kind == OperationKind::Read && !port.endpoint(index).reads()) {
    throw Fault("read", FI_EOPNOTSUPP, "this provider cannot read from peers");
  }
  const RemoteRegion& remote = port.remote(word(command_[Remote]));
  operation.remoteAddress = remote.address.at(index) + whole(command_[RemoteOffset], kMostWhole);
  operation.remoteKey = remote.key.at(index);
}

int32_t Operations::poll(Port& port, uint32_t spins) {
  for (uint32_t i = 0; i < std::min(spins, kMostSpins); i++) {
    size_t seen = port.drain(*this);
    if (!pending_.empty() || !port.userArrivals.empty() || !port.faults.empty()) break;
    empty_ = seen > 0 ? 0 : empty_ + 1;
    if (empty_ % kSpinsBeforeYield == kSpinsBeforeYield - 1) port.readEvents();
    if (empty_ >= kSpinsBeforeYield) sched_yield();
  }
  size_t count = 0;
  for (; count < capacity_ && !pending_.empty(); count++) {
    tell(count, pending_.front());
    release(pending_.front().id);  // not before JavaScript knows: it keys its table by id
    pending_.pop_front();
  }
  for (; count < capacity_ && !port.userArrivals.empty(); count++) {
    Arrival arrival = port.userArrivals.front();
    tell(count, {Arrived, arrival.endpoint, arrival.data, 0});
    port.userArrivals.pop_front();
  }
  for (; count < capacity_ && !port.faults.empty(); count++) {
    PortFault& fault = port.faults.front();
    tell(count, {EndpointFailed, fault.endpoint, static_cast<uint32_t>(fault.code), keep(fault.text)});
    port.faults.pop_front();
  }
  if (count > 0) empty_ = 0;
  return static_cast<int32_t>(count);
}

bool Operations::cancel(Port& port, size_t id) {
  bool inFlight = id < operations_.size() && operations_[id].region != nullptr;
  return inFlight && port.cancel(operations_[id]);
}

std::string Operations::takeText(uint32_t key) {
  auto found = texts_.extract(key);
  return found.empty() ? std::string() : std::move(found.mapped());
}

void Operations::settled(Operation& operation, uint64_t bytes) {
  pending_.push_back({Done, operation.id, static_cast<uint32_t>(bytes), static_cast<uint32_t>(bytes >> 32)});
}

void Operations::failed(Operation& operation, int code, const std::string& text) {
  pending_.push_back({Failed, operation.id, static_cast<uint32_t>(code), keep(text)});
}

Operation& Operations::take() {
  if (!free_.empty()) {
    uint32_t id = free_.back();
    free_.pop_back();
    return operations_[id];
  }
  Operation& fresh = operations_.emplace_back();
  fresh.id = static_cast<uint32_t>(operations_.size() - 1);
  fresh.completer = this;
  return fresh;
}

void Operations::release(uint32_t id) {
  operations_[id].region = nullptr;
  free_.push_back(id);
}

uint32_t Operations::keep(const std::string& text) {
  texts_.emplace(++nextText_, text);
  return nextText_;
}

void Operations::tell(size_t index, const Record& record) {
  uint32_t* out = records_ + index * kRecordWords;
  out[0] = record.kind;
  out[1] = record.id;
  out[2] = record.low;
  out[3] = record.high;
}

}  // namespace weft
