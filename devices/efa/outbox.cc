#include "outbox.h"

#include <algorithm>

#include "context.h"

namespace efa {
namespace {

constexpr uint64_t kRetransmitAfter = kMillisecond;

}  // namespace

Message& Outbox::allocate(FrameKind kind, uint64_t bytes) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(messages_.size()));
    messages_.push_back(std::make_unique<Message>());
    messages_.back()->id = free_.back();
  }
  Message& message = *messages_[free_.back()];
  free_.pop_back();
  message.kind = kind;
  message.in_use = true;
  message.refusals = 0;
  message.received = 0;
  const uint32_t mtu = context_.attributes.mtu;
  // An empty message still travels, as does a request.
  message.segments =
      kind == FrameKind::read_request ? 1 : std::max<uint32_t>(1, static_cast<uint32_t>((bytes + mtu - 1) / mtu));
  if (kind != FrameKind::read_data) outstanding_++;
  return message;
}

void Outbox::hello(const Hello& hello) { hello_.push_back(hello); }

void Outbox::post(const WorkRequest& work, uint64_t due) {
  const FrameKind kind = work.operation == Operation::send    ? FrameKind::send
                         : work.operation == Operation::write ? FrameKind::write
                                                              : FrameKind::read_request;
  Message& message = allocate(kind, work.total);
  message.work = work;
  repeat(message, due);
}

void Outbox::post_read_data(const Frame& request) {
  Message& message = allocate(FrameKind::read_data, request.total);
  message.work = {};
  message.work.sge_count = 1;
  message.work.sge[0] = {request.address, request.total, request.key};
  message.work.total = request.total;
  message.work.immediate = request.message;
  repeat(message, 0);
}

void Outbox::repeat(Message& message, uint64_t due) {
  message.next = message.lost = message.window_count = 0;
  if (due == 0) enqueue(message);
  else delayed_.push_back({due, &message, kWhole});
}

void Outbox::enqueue(Message& message) {
  const bool is_small = message.kind == FrameKind::read_request || message.work.total <= kSmallBytes;
  if (is_small && context_.attributes.shuffle) queue_.push_front(&message);
  else queue_.push_back(&message);
}

Message* Outbox::find(uint32_t id) {
  if (id >= messages_.size() || !messages_[id]->in_use || messages_[id]->kind == FrameKind::read_data) return nullptr;
  return messages_[id].get();
}

void Outbox::release(Message& message) {
  if (message.kind != FrameKind::read_data) outstanding_--;
  message.in_use = false;
  free_.push_back(message.id);
}

void Outbox::release_delayed(uint64_t now) {
  if (delayed_.empty()) return;
  std::erase_if(delayed_, [&](const Delayed& each) {
    if (each.due > now) return false;
    Message& message = *each.message;
    if (each.segment == kWhole) {
      enqueue(message);
      return true;
    }
    if (message.window_count == message.window.size()) return false;
    message.window[message.window_count++] = static_cast<uint32_t>(each.segment);
    message.lost--;
    if (std::find(active_.begin(), active_.end(), &message) == active_.end()) active_.push_back(&message);
    return true;
  });
}

uint64_t Outbox::next_due() const {
  uint64_t due = kNever;
  for (const Delayed& each : delayed_) due = std::min(due, each.due);
  return due;
}

/// A message that may send a segment now; it stays active until its last one is taken.
Message* Outbox::pick() {
  while (active_.size() < kActive && !queue_.empty()) {
    active_.push_back(queue_.front());
    queue_.pop_front();
  }
  if (active_.empty()) return nullptr;
  const bool shuffle = context_.attributes.shuffle;
  return active_[shuffle ? context_.engine.random.below(static_cast<uint32_t>(active_.size())) : 0];
}

uint32_t Outbox::take_segment(Message& message) {
  const bool shuffle = context_.attributes.shuffle;
  const size_t most = shuffle ? message.window.size() : 1;
  while (message.window_count < most && message.next < message.segments) {
    message.window[message.window_count++] = message.next++;
  }
  const uint32_t at = shuffle ? context_.engine.random.below(message.window_count) : 0;
  const uint32_t segment = message.window[at];
  message.window[at] = message.window[--message.window_count];
  if (message.window_count == 0 && message.next == message.segments) std::erase(active_, &message);
  return segment;
}

/// The fault: the segment goes out and never arrives, so it goes out again later.
bool Outbox::lose(Message& message, uint32_t segment) {
  Engine& engine = context_.engine;
  if (!engine.random.percent(context_.faults.drop)) return false;
  const uint64_t offset = static_cast<uint64_t>(segment) * context_.attributes.mtu;
  const uint64_t length = message.kind == FrameKind::read_request
                              ? 0
                              : std::min<uint64_t>(context_.attributes.mtu, message.work.total - offset);
  Counters& counters = context_.counters;
  counters.add(kTxPackets, 1);
  counters.add(kTxBytes, length);
  counters.add(kRetransmittedPackets, 1);
  counters.add(kRetransmittedBytes, length);
  counters.add(kRetransmitTimeouts, 1);
  message.lost++;
  delayed_.push_back({engine.now + kRetransmitAfter, &message, segment});
  return true;
}

}  // namespace efa
