// How segments and acknowledgements become the vectors of one system call.
#include <algorithm>

#include "context.h"
#include "outbox.h"

namespace efa {
namespace {

/// Smaller segments are the provider's own messages: a byte wrong in those ends its process, and shows nothing of users.
constexpr uint32_t kLeastCorrupted = 1024;

}  // namespace

std::pair<iovec*, size_t> Outbox::batch() {
  if (vector_at_ == vectors_.size()) build_batch();
  return {vectors_.data() + vector_at_, vectors_.size() - vector_at_};
}

void Outbox::written(size_t bytes) {
  while (bytes > 0 && bytes >= vectors_[vector_at_].iov_len) bytes -= vectors_[vector_at_++].iov_len;
  if (bytes > 0) {
    iovec& vector = vectors_[vector_at_];
    vector.iov_base = static_cast<char*>(vector.iov_base) + bytes;
    vector.iov_len -= bytes;
  }
  if (vector_at_ == vectors_.size()) {
    for (Message* message : finished_) release(*message);
    finished_.clear();
  }
}

void Outbox::build_batch() {
  vectors_.clear();
  vector_at_ = frame_count_ = batch_bytes_ = 0;
  build_control();
  while (frame_count_ < kBatchFrames && batch_bytes_ < kBatchBytes) {
    Message* message = pick();
    if (message == nullptr) break;
    const uint32_t segment = take_segment(*message);
    if (lose(*message, segment)) continue;
    append(*message, segment);
    const bool is_last = message->window_count == 0 && message->next == message->segments && message->lost == 0;
    if (is_last && message->kind == FrameKind::read_data) finished_.push_back(message);
  }
}

void Outbox::build_control() {
  if (!hello_.empty()) {
    batch_hello_ = hello_.front();
    hello_.clear();
    add_frame(FrameKind::hello).length = sizeof(Hello);
    vectors_.push_back({&batch_hello_, sizeof(Hello)});
  }
  if (!acks_.empty()) {
    const auto end = acks_.begin() + static_cast<ptrdiff_t>(std::min(acks_.size(), kMaxAcks));
    batch_acks_.assign(acks_.begin(), end);
    acks_.erase(acks_.begin(), end);
    const size_t bytes = batch_acks_.size() * sizeof(Ack);
    add_frame(FrameKind::acks).length = static_cast<uint32_t>(bytes);
    vectors_.push_back({batch_acks_.data(), bytes});
  }
}

Frame& Outbox::add_frame(FrameKind kind) {
  Frame& frame = frames_[frame_count_++];
  frame = {};
  frame.kind = kind;
  vectors_.push_back({&frame, sizeof frame});
  return frame;
}

void Outbox::append(Message& message, uint32_t segment) {
  const WorkRequest& work = message.work;
  const uint32_t mtu = context_.attributes.mtu;
  const uint64_t offset = static_cast<uint64_t>(segment) * mtu;
  Frame& frame = add_frame(message.kind);
  frame.message = message.kind == FrameKind::read_data ? work.immediate : message.id;
  frame.total = static_cast<uint32_t>(work.total);
  frame.qkey = work.qkey;
  frame.key = work.key;
  frame.address = message.kind == FrameKind::read_data ? offset : work.address + offset;
  if (work.has_immediate) {
    frame.flags |= kFrameImmediate;
    frame.immediate = work.immediate;
  }
  if (message.kind != FrameKind::read_request) {
    frame.length = static_cast<uint32_t>(std::min<uint64_t>(mtu, work.total - offset));
    gather(work, offset, frame.length);
  }
  const uint32_t every = context_.faults.corrupt;
  if (every != 0 && frame.length >= kLeastCorrupted && ++context_.engine.segments_sent % every == 0) {
    frame.flags |= kFrameCorrupt;
  }
  batch_bytes_ += frame.length;
  context_.counters.add(kTxPackets, 1);
  context_.counters.add(kTxBytes, frame.length);
}

void Outbox::gather(const WorkRequest& work, uint64_t offset, uint64_t length) {
  if (length == 0) return;
  if (work.is_inline) {
    vectors_.push_back({const_cast<uint8_t*>(work.inline_data.data()) + offset, length});
    return;
  }
  for (size_t i = 0; i < work.sge_count && length > 0; i++) {
    const ibv_sge& sge = work.sge[i];
    if (offset >= sge.length) {
      offset -= sge.length;
      continue;
    }
    const uint64_t part = std::min<uint64_t>(length, sge.length - offset);
    vectors_.push_back({reinterpret_cast<void*>(sge.addr + offset), part});
    length -= part;
    offset = 0;
  }
}

}  // namespace efa
