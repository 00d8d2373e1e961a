#pragma once
// The producer's side of the queue on a GPU; included by queue.h, which says how the queue works.
#include "queue.h"

namespace weft::queue {

namespace device {

__device__ inline uint64_t loadAcquireSystem(const uint64_t* from) {
  uint64_t value;
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
__device__ inline uint64_t loadAcquire(const uint64_t* from) {
  uint64_t value;
  asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
__device__ inline void raise(uint64_t* to, uint64_t value) {
  asm volatile("red.release.gpu.max.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
/// One 16-byte store; each half is written whole.
__device__ inline void storeCell(Cell* to, uint64_t first, uint64_t second) {
  asm volatile("st.relaxed.sys.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(first), "l"(second) : "memory");
}
__device__ inline uint64_t nanoseconds() {
  uint64_t value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value));
  return value;
}

}  // namespace device

/// One per GPU thread, kept in its registers.
class Producer {
 public:
  __device__ explicit Producer(const View& view) : view_(view), head_(0) {}

  /// False when the consumer has stopped. The element alone is published.
  __device__ bool push(const Element& element) {
    auto* next = reinterpret_cast<unsigned long long*>(&view_.tickets->next);
    return store(atomicAdd(next, 1ull), element);
  }

  /// What this thread, and those it has met in a barrier, wrote before can be seen by whoever pops the element.
  __device__ bool pushReleased(const Element& element) {
    __threadfence_system();
    return push(element);
  }

  /// For all lanes of a warp that come here together: one ticket operation for all.
  __device__ bool pushTogether(const Element& element) {
    unsigned active = __activemask();
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    unsigned leader = __ffs(static_cast<int>(active)) - 1;
    unsigned long long first = 0;
    if (lane == leader) {
      auto* next = reinterpret_cast<unsigned long long*>(&view_.tickets->next);
      first = atomicAdd(next, static_cast<unsigned long long>(__popc(active)));
    }
    first = __shfl_sync(active, first, static_cast<int>(leader));
    unsigned before = __popc(active & ((1u << lane) - 1));
    return store(first + before, element);
  }

 private:
  __device__ bool store(uint64_t ticket, const Element& element) {
    if (ticket >= head_ + view_.capacity() && !waitForRoom(ticket)) return false;
    uint64_t tag = view_.tagOf(ticket);
    device::storeCell(&view_.cellOf(ticket), element.first << kTagBits | tag, element.second << kTagBits | tag);
    return true;
  }

  __device__ bool waitForRoom(uint64_t ticket) {
    Tickets* tickets = view_.tickets;
    for (unsigned pause = 32;; pause = pause < 1024 ? pause * 2 : pause) {
      head_ = device::loadAcquire(&tickets->headSeen);
      if (head_ == kStopped) return false;
      if (ticket < head_ + view_.capacity()) return true;
      if (atomicExch(&tickets->asking, 1u) == 0) {
        uint64_t stopped = device::loadAcquireSystem(&view_.gate->stopped);
        head_ = device::loadAcquireSystem(&view_.gate->head);
        if (stopped) head_ = kStopped;  // which the others read from the shared copy
        device::raise(&tickets->headSeen, head_);
        atomicExch(&tickets->asking, 0u);
      }
      if (head_ == kStopped) return false;
      if (ticket < head_ + view_.capacity()) return true;
      __nanosleep(pause);
    }
  }

  static constexpr uint64_t kStopped = ~0ull >> 1;

  View view_;
  uint64_t head_;
};

}  // namespace weft::queue
