// Producers of the queue on a GPU; native/gpu/queue-run.cc is the other side.
#include "../native/gpu/queue-load.h"

using namespace weft::queue;

namespace {

template <bool released>
__device__ void produce(const View& view, const Load& load) {
  Producer queue(view);
  uint64_t producer = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (uint64_t number = 0; number < load.each; number++) {
    // Lanes that waited for room apart push together again. Those that returned are not waited for.
    __syncwarp();
    Element element = elementOf(load, producer, number);
    if (released) __threadfence_system();
    if (!queue.pushTogether(element)) return;
  }
}

}  // namespace

/// Every thread pushes its part of the load.
extern "C" __global__ void weftQueuePush(View view, Load load) { produce<false>(view, load); }

/// The same with a system fence before each push, as where data must be seen with the element.
extern "C" __global__ void weftQueuePushReleased(View view, Load load) { produce<true>(view, load); }

/// One thread pushes an element, waits for its answer, and notes the round trip. Ends early when the queue is stopped.
extern "C" __global__ void weftQueueEcho(View view, const uint64_t* answer, uint64_t* roundTrips, uint64_t rounds) {
  Producer queue(view);
  for (uint64_t round = 1; round <= rounds; round++) {
    uint64_t start = device::nanoseconds();
    if (!queue.push({round, start & kPayloadMask})) return;
    while (device::loadAcquireSystem(answer) < round) {
      if (device::loadAcquireSystem(&view.gate->stopped)) return;
    }
    roundTrips[round - 1] = device::nanoseconds() - start;
  }
}

/// Relates clocks: answers each new value of `call` with the GPU's time, cut to 48 bits, beside the value's low 16 bits.
/// Ends when the call is ~0. `step` gets the smallest step the timer was seen to make.
extern "C" __global__ void weftClock(const uint64_t* call, uint64_t* answer, uint64_t* step) {
  uint64_t smallest = ~0ull;
  for (uint64_t last = device::nanoseconds(), seen = 0; seen < 64;) {
    uint64_t now = device::nanoseconds();
    if (now == last) continue;
    smallest = min(smallest, now - last);
    last = now;
    seen++;
  }
  *step = smallest;
  for (uint64_t answered = 0;;) {
    uint64_t called = device::loadAcquireSystem(call);
    if (called == answered) continue;
    if (called == ~0ull) return;
    uint64_t now = device::nanoseconds();
    asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(answer), "l"(now << kTagBits | (called & kTagMask)) : "memory");
    answered = called;
  }
}
