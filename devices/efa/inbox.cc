#include "inbox.h"

#include <algorithm>
#include <cstring>

#include "link.h"
#include "queue-pair.h"

namespace efa {
namespace {

/// The sending device's fault, carried out where the bytes arrive.
const uint8_t* damaged(const Frame& frame, const uint8_t* data, std::vector<uint8_t>& copy) {
  if (!(frame.flags & kFrameCorrupt) || frame.length == 0) return data;
  copy.assign(data, data + frame.length);
  copy[frame.length / 2] ^= 0x40;
  return copy.data();
}

}  // namespace

size_t Inbox::take(const uint8_t* bytes, size_t length) {
  size_t at = 0;
  while (length - at >= sizeof(Frame) && !link_.is_dead()) {
    Frame frame;
    std::memcpy(&frame, bytes + at, sizeof frame);
    if (frame.length > kLargestPayload) {
      link_.fail(kRemoteAbort);
      return length;
    }
    if (length - at < sizeof frame + frame.length) break;
    if (!handle(frame, bytes + at + sizeof frame)) {
      link_.fail(kRemoteAbort);
      return length;
    }
    at += sizeof frame + frame.length;
  }
  return at;
}

bool Inbox::handle(const Frame& frame, const uint8_t* data) {
  switch (frame.kind) {
    case FrameKind::hello: return on_hello(frame, data);
    case FrameKind::acks: return on_acks(frame, data), true;
    default: break;
  }
  Counters& counters = link_.qp.context.counters;
  counters.add(kRxPackets, 1);
  counters.add(kRxBytes, frame.length);
  if (frame.kind == FrameKind::read_data) return on_read_data(frame, data), true;
  if (!greeted_) return false;
  switch (frame.kind) {
    case FrameKind::send: return on_send(frame, data), true;
    case FrameKind::write: return on_write(frame, data), true;
    case FrameKind::read_request: return on_read_request(frame), true;
    default: return false;
  }
}

bool Inbox::on_hello(const Frame& frame, const uint8_t* data) {
  Hello hello;
  if (frame.length != sizeof hello) return false;
  std::memcpy(&hello, data, sizeof hello);
  if (hello.magic != kHelloMagic) return false;
  source_qp_ = hello.source_qp;
  std::memcpy(source_.data(), hello.source_gid, source_.size());
  greeted_ = true;
  return true;
}

bool Inbox::scatter(const ibv_sge* sge, size_t count, uint64_t offset, const uint8_t* data, uint32_t length) {
  MemoryTable& memory = link_.qp.context.memory;
  auto held = memory.hold();
  for (size_t i = 0; i < count && length > 0; i++) {
    if (offset >= sge[i].length) {
      offset -= sge[i].length;
      continue;
    }
    const auto part = static_cast<uint32_t>(std::min<uint64_t>(length, sge[i].length - offset));
    uint8_t* to = memory.find(sge[i].lkey, sge[i].addr + offset, part, 0);
    if (to == nullptr) return false;
    std::memcpy(to, data, part);
    data += part;
    length -= part;
    offset = 0;
  }
  return length == 0;
}

Completion Inbox::arrival(const Frame& frame, ibv_wc_opcode opcode) const {
  Completion completion{};
  completion.qp = &link_.qp;
  completion.opcode = opcode;
  completion.byte_len = frame.total;
  completion.src_qp = source_qp_;
  completion.source = source_;
  completion.ah = link_.qp.context.addresses.number_of(source_);
  if (frame.flags & kFrameImmediate) {
    completion.flags = IBV_WC_WITH_IMM;
    completion.immediate = frame.immediate;
  }
  return completion;
}

void Inbox::on_send(const Frame& frame, const uint8_t* data) {
  QueuePair& qp = link_.qp;
  Context& context = qp.context;
  if (frame.length != frame.total) return link_.fail(kUnresponsiveRemote);  // no peer of ours sends that
  if (frame.qkey != qp.qkey) return link_.acknowledge(frame.message, kRemoteBadQueuePair);
  Receive receive;
  if (context.engine.random.percent(context.faults.rnr) || !qp.take_receive(receive)) {
    context.counters.add(kRxDrops, 1);
    return link_.acknowledge(frame.message, kRemoteNotReady);
  }
  uint64_t room = 0;
  for (size_t i = 0; i < receive.sge_count; i++) room += receive.sge[i].length;
  Completion completion = arrival(frame, IBV_WC_RECV);
  completion.wr_id = receive.wr_id;
  completion.frees_receive = true;
  std::vector<uint8_t> copy;
  data = damaged(frame, data, copy);
  Status answer = kOk;
  if (room < frame.length) {
    completion.status = kLocalBadLength;
    answer = kRemoteBadLength;
  } else if (!scatter(receive.sge.data(), receive.sge_count, 0, data, frame.length)) {
    completion.status = kLocalInvalidLkey;
    answer = kRemoteAbort;
  } else {
    context.counters.add(kRecvRequests, 1);
    context.counters.add(kRecvBytes, frame.length);
  }
  CompletionQueue::of(qp.ex.qp_base.recv_cq).push(completion);
  link_.acknowledge(frame.message, answer);
}

Status Inbox::check_rdma(const Frame& frame, uint32_t cap) const {
  Context& context = link_.qp.context;
  if (!(context.attributes.caps & cap)) return kRemoteBadStatus;
  if (frame.qkey != link_.qp.qkey) return kRemoteBadQueuePair;
  // Hardware answers only peers it has an address handle for.
  return context.addresses.number_of(source_) == kUnknownAh ? kRemoteUnknownPeer : kOk;
}

void Inbox::on_read_request(const Frame& frame) {
  Context& context = link_.qp.context;
  Status status = check_rdma(frame, kCapRead);
  if (status == kOk) {
    auto held = context.memory.hold();
    const int access = IBV_ACCESS_REMOTE_READ;
    if (context.memory.find(frame.key, frame.address, frame.total, access) == nullptr) status = kRemoteBadAddress;
  }
  if (status != kOk || frame.total == 0) return link_.acknowledge(frame.message, status);
  context.counters.add(kReadResponseBytes, frame.total);
  link_.post_read_data(frame);
}

void Inbox::on_read_data(const Frame& frame, const uint8_t* data) {
  Message* message = link_.find(frame.message);
  if (message == nullptr || message->kind != FrameKind::read_request) return;
  std::vector<uint8_t> copy;
  data = damaged(frame, data, copy);
  const WorkRequest& work = message->work;
  if (!scatter(work.sge.data(), work.sge_count, frame.address, data, frame.length)) {
    return link_.answered(frame.message, kLocalInvalidLkey);
  }
  message->received += frame.length;
  if (message->received >= work.total) link_.answered(frame.message, kOk);
}

void Inbox::on_acks(const Frame& frame, const uint8_t* data) {
  for (size_t at = 0; at + sizeof(Ack) <= frame.length; at += sizeof(Ack)) {
    Ack ack;
    std::memcpy(&ack, data + at, sizeof ack);
    link_.answered(ack.message, static_cast<Status>(ack.status));
  }
}

}  // namespace efa
