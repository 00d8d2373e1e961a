#pragma once
// A bounded queue from many producers to one consumer. Producers are CPU threads or GPU threads, the consumer is a CPU
// thread; C++ and CUDA compile this one source. An element is 96 bits that say everything by themselves.
//
// Where things lie, and why a push from a GPU needs neither a fence nor a read over PCIe:
//
// - Cells are 16 bytes in memory the CPU polls (for a GPU: page-locked host memory). Each of a cell's two words carries
//   48 bits of payload and the 16-bit generation of its lap, and the consumer takes a cell only when both words show
//   the generation it waits for. A 16-byte store that arrives in two halves, in either order, is thus noticed, and
//   there is no flag to order the payload before: one vector store is the whole push.
// - Tickets are taken from a counter in the producers' own memory. A warp takes all of its tickets at once, and its
//   cells lie side by side, so that its stores leave as few, full packets.
// - The consumer publishes how far it has read (`head`) once per quarter of the capacity or when it runs dry. A producer
//   remembers the head it last saw; if its ticket seems beyond the room, it looks at the copy that producers share in
//   their own memory, and only if that is old, too, does one of them read the published word over PCIe for all.
//
// Memory order. Consumer to producers, "this cell may be overwritten": the consumer reads a cell, then stores `head`
// with release; a producer that loads it with acquire, directly or through the shared copy (stored with release, loaded
// with acquire), writes the cell after that, so no cell is overwritten before it was read. Producers to consumer, "this
// cell is full": CPU producers store both words with release and the consumer loads both with acquire, so what a
// producer wrote before its push is seen after the pop. A GPU's stores are relaxed at system scope: where other memory
// must be seen after the pop, the producer pushes with `pushReleased`, whose system fence before the store makes it a
// release. Cells that never saw a lap are zero, and no lap's generation equals the one before it: generations count
// from 1 and wrap at 2^16, and a producer is never more than one lap ahead.
//
// A producer takes its ticket before it knows that there is room, and then waits for it: so the order of tickets is the
// order of the queue, and nobody starves. When the consumer stops for good it says so (`stopped`), and pushes that
// wait return false.
#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define WEFT_BOTH __host__ __device__
#else
#define WEFT_BOTH
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>
#endif

namespace weft::queue {

constexpr unsigned kTagBits = 16;
constexpr uint64_t kTagMask = (1u << kTagBits) - 1;
constexpr uint64_t kPayloadMask = ~0ull >> kTagBits;

/// What travels: 48 bits each.
struct Element {
  uint64_t first, second;
};

struct alignas(16) Cell {
  uint64_t word[2];
};

/// From the consumer to producers, in memory both can reach. On a line of its own.
struct alignas(64) Gate {
  uint64_t head;     // elements read, published now and then
  uint64_t stopped;  // not 0: nothing will be read any more
};

/// Between producers, in their own memory: a GPU's for GPU threads.
struct Tickets {
  alignas(64) uint64_t next;      // the next free ticket
  alignas(64) uint64_t headSeen;  // at most `Gate::head`
  alignas(64) uint32_t asking;    // 1 while a producer reads `Gate::head` for all
};

/// A queue as its users know it; owns nothing. Everything it points at starts as zeros.
struct View {
  Cell* cells;
  Gate* gate;
  Tickets* tickets;
  uint32_t shift;  // the capacity is 1 << shift

  WEFT_BOTH uint64_t capacity() const { return 1ull << shift; }
  WEFT_BOTH Cell& cellOf(uint64_t ticket) const { return cells[ticket & (capacity() - 1)]; }
  WEFT_BOTH uint64_t tagOf(uint64_t ticket) const { return ((ticket >> shift) + 1) & kTagMask; }
};

}  // namespace weft::queue

#if defined(__CUDACC__)
#include "queue-device.h"
#else

namespace weft::queue {

/// One per CPU thread.
class Producer {
 public:
  explicit Producer(const View& view) : view_(view) {}

  /// False when the consumer has stopped. What this thread wrote before is seen by whoever pops the element.
  bool push(const Element& element) { return pushTogether(&element, 1); }

  /// Takes all tickets at once, as a warp does.
  bool pushTogether(const Element* elements, size_t count) {
    uint64_t first = std::atomic_ref(view_.tickets->next).fetch_add(count, std::memory_order_relaxed);
    for (size_t i = 0; i < count; i++) {
      if (first + i >= head_ + view_.capacity() && !waitForRoom(first + i)) return false;
      uint64_t tag = view_.tagOf(first + i);
      Cell& cell = view_.cellOf(first + i);
      std::atomic_ref(cell.word[0]).store(elements[i].first << kTagBits | tag, std::memory_order_release);
      std::atomic_ref(cell.word[1]).store(elements[i].second << kTagBits | tag, std::memory_order_release);
    }
    return true;
  }

 private:
  bool waitForRoom(uint64_t ticket) {
    for (unsigned tries = 0;; tries++) {
      head_ = std::atomic_ref(view_.gate->head).load(std::memory_order_acquire);
      if (ticket < head_ + view_.capacity()) return true;
      if (std::atomic_ref(view_.gate->stopped).load(std::memory_order_acquire)) return false;
      if (tries < kSpins) continue;
      // With more threads than cores, those whose turn is not next leave the cores to the others.
      if (ticket - head_ <= view_.capacity() + view_.capacity() / 4) sched_yield();
      else std::this_thread::sleep_for(kFarOff);
    }
  }

  static constexpr unsigned kSpins = 64;
  static constexpr std::chrono::microseconds kFarOff{500};

  View view_;
  uint64_t head_ = 0;
};

/// The one consumer; one thread at a time.
class Consumer {
 public:
  explicit Consumer(const View& view) : view_(view) {}

  /// Takes at most `most` elements in the order of their tickets; 0 when the next one has not come.
  size_t pop(Element* elements, size_t most) {
    size_t count = 0;
    for (; count < most; count++) {
      uint64_t tag = view_.tagOf(next_);
      Cell& cell = view_.cellOf(next_);
      uint64_t first = std::atomic_ref(cell.word[0]).load(std::memory_order_acquire);
      uint64_t second = std::atomic_ref(cell.word[1]).load(std::memory_order_acquire);
      if ((first & kTagMask) != tag || (second & kTagMask) != tag) break;
      elements[count] = {first >> kTagBits, second >> kTagBits};
      next_++;
    }
    uint64_t unpublished = next_ - published_;
    if (unpublished > 0 && (count == 0 || unpublished >= view_.capacity() / 4)) publish();
    return count;
  }

  /// For good: pushes that find no room return false from here on.
  void stop() { std::atomic_ref(view_.gate->stopped).store(1, std::memory_order_release); }

  uint64_t popped() const { return next_; }

 private:
  void publish() {
    published_ = next_;
    std::atomic_ref(view_.gate->head).store(next_, std::memory_order_release);
  }

  View view_;
  uint64_t next_ = 0, published_ = 0;
};

}  // namespace weft::queue

#endif
