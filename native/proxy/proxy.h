#pragma once
// The heart of the proxy: takes requests from the queue, has a Poster carry them out, and tells producers how many of
// theirs were delivered. One thread; knows nothing of libfabric.
#include <utility>
#include <vector>

#include "proxy-request.h"

namespace weft {

/// Carries out transfers of a plan. Tells of each one's delivery through Proxy::delivered, perhaps before `begin` returns.
class Poster {
 public:
  virtual void begin(uint32_t transfer) = 0;

 protected:
  ~Poster() = default;
};

/// When things happened to one request; `pushed` on the producer's clock and cut to 48 bits, the others on this rank's.
struct RequestTimes {
  uint32_t transfer = 0;
  uint64_t pushed = 0, popped = 0, posted = 0, delivered = 0;
};

class Proxy {
 public:
  /// The board as this process addresses it.
  Proxy(const queue::Board& board, uint32_t transfers);

  /// Keeps the times of this many requests from now on.
  void trace(size_t requests);
  std::vector<RequestTimes>& times() { return times_; }
  /// While tracing: the newest request for `transfer`.
  RequestTimes* timesOf(uint32_t transfer) { return traced_ ? &times_[newest_[transfer]] : nullptr; }

  /// Begins what has been asked for, a batch at most; returns how many requests that were. A request for a transfer that
  /// is under way, or that does not exist, is a Fault.
  size_t take(Poster& poster);
  void delivered(uint32_t transfer);
  uint64_t deliveredCount() const { return deliveredCount_; }
  uint64_t takenCount() const { return takenCount_; }
  /// Whether a sleeping producer has been woken since the last call.
  bool woke() { return std::exchange(woke_, false); }
  /// For good: producers that push or wait are let go.
  void end();

 private:
  static constexpr uint32_t kNobody = ~0u;

  queue::Consumer consumer_;
  queue::Delivered* words_;
  std::vector<uint64_t> counts_;   // by producer
  std::vector<uint32_t> askedBy_;  // by transfer; kNobody when it is not under way
  std::vector<uint32_t> newest_;   // by transfer, an index into times_
  std::vector<RequestTimes> times_;
  bool traced_ = false, woke_ = false;
  uint64_t takenCount_ = 0, deliveredCount_ = 0;
};

}  // namespace weft
