// Writes from a peer: data into registered memory, then the immediate.
#include <algorithm>
#include <cstring>

#include "inbox.h"
#include "link.h"
#include "queue-pair.h"

namespace efa {
namespace {

constexpr uint64_t kHoldFor = 3 * kMillisecond;

}  // namespace

void Inbox::on_write(const Frame& frame, const uint8_t* data) {
  if ((frame.flags & kFrameImmediate) && link_.qp.context.faults.early_immediate) return hold(frame, data);
  place_write(frame, data, false);
}

/// The immediate goes out with the first segment; all data of the message follows later.
void Inbox::hold(const Frame& frame, const uint8_t* data) {
  Partial& partial = partial_[frame.message];
  if (!partial.announced) {
    partial.announced = true;
    partial.status = check_rdma(frame, kCapWrite);
    if (partial.status == kOk) partial.status = announce(frame);
  }
  held_.push_back({link_.qp.context.engine.now + kHoldFor, frame, {data, data + frame.length}});
}

void Inbox::release_held(uint64_t now) {
  size_t due = 0;
  for (; due < held_.size() && held_[due].due <= now; due++) {
    place_write(held_[due].frame, held_[due].data.data(), true);
  }
  held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(due));
}

/// The target answers when the whole message is there, whatever became of its parts: until then the sender's memory
/// may still be read.
void Inbox::place_write(const Frame& frame, const uint8_t* data, bool announced) {
  Context& context = link_.qp.context;
  Status status = announced ? kOk : check_rdma(frame, kCapWrite);
  if (status == kOk && frame.length > 0) {
    auto held = context.memory.hold();
    uint8_t* to = context.memory.find(frame.key, frame.address, frame.length, IBV_ACCESS_REMOTE_WRITE);
    if (to == nullptr) {
      status = kRemoteBadAddress;
    } else {
      std::memcpy(to, data, frame.length);
      if (frame.flags & kFrameCorrupt) to[frame.length / 2] ^= 0x40;
    }
  }
  if (frame.length < frame.total || announced) {
    Partial& partial = partial_[frame.message];
    partial.received += frame.length;
    if (partial.status == kOk) partial.status = status;
    if (partial.received < frame.total) return;
    status = partial.status;
    announced = partial.announced;
    partial_.erase(frame.message);
  }
  if (status == kOk && (frame.flags & kFrameImmediate) && !announced) status = announce(frame);
  if (status == kOk) context.counters.add(kWriteRecvBytes, frame.total);
  link_.acknowledge(frame.message, status);
}

/// Without unsolicited completions an immediate takes a posted receive, and finds the target not ready without one.
Status Inbox::announce(const Frame& frame) {
  QueuePair& qp = link_.qp;
  Completion completion = arrival(frame, IBV_WC_RECV_RDMA_WITH_IMM);
  if (qp.unsolicited) {
    completion.unsolicited = true;
  } else {
    Receive receive;
    if (!qp.take_receive(receive)) return kRemoteNotReady;
    completion.wr_id = receive.wr_id;
    completion.frees_receive = true;
  }
  CompletionQueue::of(qp.ex.qp_base.recv_cq).push(completion);
  return kOk;
}

}  // namespace efa
