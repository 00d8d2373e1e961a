#include "proxy.h"

#include <array>

#include "../clock.h"
#include "../fault.h"

namespace weft {

namespace {

constexpr size_t kTakeMost = 32;

}  // namespace

Proxy::Proxy(const queue::Board& board, uint32_t transfers)
    : consumer_(board.queue),
      words_(board.delivered),
      counts_(board.producers),
      askedBy_(transfers, kNobody),
      newest_(transfers) {}

void Proxy::trace(size_t requests) {
  traced_ = requests > 0;
  times_.reserve(requests);
}

size_t Proxy::take(Poster& poster) {
  std::array<queue::Element, kTakeMost> elements;
  size_t count = consumer_.pop(elements.data(), elements.size());
  if (count == 0) return 0;
  uint64_t popped = traced_ ? monotonicNanoseconds() : 0;
  for (size_t i = 0; i < count; i++) {
    queue::Request request = queue::toRequest(elements[i]);
    if (request.transfer >= askedBy_.size() || request.producer >= counts_.size()) {
      throw Fault("proxy", EINVAL, "producer " + std::to_string(request.producer) + " of " + std::to_string(counts_.size()) +
                                       " requested transfer " + std::to_string(request.transfer) + " of " +
                                       std::to_string(askedBy_.size()));
    }
    auto transfer = static_cast<uint32_t>(request.transfer);
    if (askedBy_[transfer] != kNobody) {
      throw Fault("proxy", EALREADY, "transfer " + std::to_string(transfer) + " was requested again before it was delivered");
    }
    askedBy_[transfer] = static_cast<uint32_t>(request.producer);
    if (traced_) {
      newest_[transfer] = static_cast<uint32_t>(times_.size());
      times_.push_back({transfer, request.pushedNanoseconds, popped, 0, 0});
    }
    takenCount_++;
    poster.begin(transfer);
  }
  return count;
}

void Proxy::delivered(uint32_t transfer) {
  uint32_t producer = askedBy_[transfer];
  if (traced_) times_[newest_[transfer]].delivered = monotonicNanoseconds();
  askedBy_[transfer] = kNobody;
  deliveredCount_++;
  std::atomic_ref word(words_[producer].count);
  uint64_t count = ++counts_[producer];
  word.store(count, std::memory_order_seq_cst);
  uint64_t wanted = std::atomic_ref(words_[producer].wanted).load(std::memory_order_seq_cst);
  if (wanted == 0 || count < wanted) return;
  word.notify_all();
  woke_ = true;
}

void Proxy::end() {
  consumer_.stop();
  for (size_t i = 0; i < counts_.size(); i++) {
    std::atomic_ref word(words_[i].count);
    word.store(queue::kEnded, std::memory_order_release);
    word.notify_all();
  }
}

}  // namespace weft
