#pragma once
// What producers and the proxy say to each other. A request travels through the queue and names a transfer of the plan;
// back comes one word per producer, the number of its transfers that were delivered. So `quiet` is no request of its own:
// a producer knows how many it pushed and waits until as many were delivered, in whatever order. How many it pushed is
// kept in memory, because the number that was delivered counts from the start, whichever Sender asked. C++ and CUDA
// compile this; kernels use it through kernels/weft-shmem.cuh.
#include "../gpu/queue.h"

namespace weft::queue {

constexpr unsigned kProducerBits = 24;
constexpr uint64_t kProducerMask = (1u << kProducerBits) - 1;
constexpr uint64_t kEnded = ~0ull;
constexpr uint64_t kNever = kEnded - 1;  // more than is ever delivered

/// Written by the proxy, on a line of its own for each producer.
struct alignas(64) Delivered {
  uint64_t count;   // since the start, or kEnded: the proxy has ended and nothing more will be delivered
  uint64_t wanted;  // of a CPU thread that sleeps: the count at which to wake it; 0 where nobody does
};

/// Written by the producer, in producers' own memory: the GPU's for a GPU's.
struct alignas(64) Pushed {
  uint64_t count;  // since the start
};

/// What producers and the proxy share, as one of them addresses it; owns nothing. Everything starts as zeros. A producer
/// has one Sender at a time; the next one goes on where it stopped.
struct Board {
  View queue;
  Delivered* delivered;  // by producer
  Pushed* pushed;        // by producer; null where only the GPU can reach it
  uint64_t producers;
};

struct Request {
  uint64_t transfer, producer, pushedNanoseconds;
};

WEFT_BOTH inline Element toElement(const Request& request) {
  return {request.transfer << kProducerBits | request.producer, request.pushedNanoseconds & kPayloadMask};
}
WEFT_BOTH inline Request toRequest(const Element& element) {
  return {element.first >> kProducerBits, element.first & kProducerMask, element.second};
}

#if defined(__CUDACC__)

/// One per producing block: one thread of it calls these.
class Sender {
 public:
  /// A producer that the board does not have asks all the same: the proxy refuses it aloud, and `quiet` gives false.
  __device__ Sender(const Board& board, uint32_t producer)
      : queue_(board.queue),
        delivered_(board.delivered + (producer < board.producers ? producer : 0)),
        kept_(producer < board.producers ? &board.pushed[producer].count : nullptr),
        producer_(producer),
        pushed_(kNever) {
    if (kept_) pushed_ = *kept_;
  }

  /// Asks for a transfer and returns. What this thread, and those it met in a barrier, wrote before is what is sent.
  /// False when the proxy has ended.
  __device__ bool putNbi(uint64_t transfer) {
    // Before the push on this clock, whatever the fence costs: the fence is a part of asking.
    uint64_t now = device::nanoseconds();
    if (!queue_.pushReleased(toElement({transfer, producer_, now}))) return false;
    if (kept_) *kept_ = ++pushed_;
    return true;
  }
  /// Waits until the peers have everything this producer asked for. False when the proxy has ended.
  __device__ bool quiet() {
    for (;;) {
      uint64_t count = device::loadAcquireSystem(&delivered_->count);
      if (count == kEnded) return false;
      if (count >= pushed_) return true;
    }
  }
  __device__ bool put(uint64_t transfer) { return putNbi(transfer) && quiet(); }

 private:
  Producer queue_;
  Delivered* delivered_;
  volatile uint64_t* kept_;
  uint64_t producer_, pushed_;
};

#else

/// One per producing CPU thread.
class Sender {
 public:
  enum class Look { Waiting, Quiet, Ended };

  /// `producer` is one of the board's.
  Sender(const Board& board, uint32_t producer, unsigned spins)
      : queue_(board.queue),
        delivered_(board.delivered + producer),
        kept_(board.pushed[producer].count),
        producer_(producer),
        pushed_(kept_.load(std::memory_order_relaxed)),
        spins_(spins) {}

  bool putNbi(uint64_t transfer, uint64_t nowNanoseconds) {
    if (!queue_.push(toElement({transfer, producer_, nowNanoseconds}))) return false;
    kept_.store(++pushed_, std::memory_order_relaxed);
    return true;
  }
  /// Spins, then sleeps until all is delivered: with fewer cores than threads, the proxy needs this one's. Either the
  /// proxy, which stores the count first, sees what is wanted, or this thread, which says that first, sees the count.
  bool quiet() {
    std::atomic_ref count(delivered_->count), wanted(delivered_->wanted);
    for (unsigned tries = 0;; tries++) {
      uint64_t seen = count.load(std::memory_order_seq_cst);
      if (seen >= pushed_) {
        if (tries > spins_) wanted.store(0, std::memory_order_relaxed);
        return seen != kEnded;
      }
      if (tries < spins_) continue;
      if (tries == spins_) wanted.store(pushed_, std::memory_order_seq_cst);
      else count.wait(seen, std::memory_order_seq_cst);
    }
  }
  /// The same without waiting.
  Look look() const {
    uint64_t seen = std::atomic_ref(delivered_->count).load(std::memory_order_acquire);
    if (seen == kEnded) return Look::Ended;
    return seen >= pushed_ ? Look::Quiet : Look::Waiting;
  }

 private:
  Producer queue_;
  Delivered* delivered_;
  std::atomic_ref<uint64_t> kept_;
  uint64_t producer_, pushed_;
  unsigned spins_;
};

#endif

}  // namespace weft::queue
