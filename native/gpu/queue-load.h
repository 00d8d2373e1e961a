#pragma once
// What producers push when a queue is measured, so that the consumer can account for every element: who pushed it, its
// number in that producer's order, and a word that follows from both and from the run's seed. C++ and CUDA compile this.
#include "queue.h"

namespace weft::queue {

constexpr unsigned kNumberBits = 28;
constexpr uint64_t kMostEach = 1ull << kNumberBits;
constexpr uint64_t kMostProducers = 1ull << (48 - kNumberBits);

/// Tests only: what producer 0 does wrong with its element `at`.
struct LoadFault {
  enum Kind : uint32_t { None, Drop, Duplicate, Flip };
  uint32_t kind;
  uint32_t at;
};

struct Load {
  uint64_t seed;
  uint64_t each;  // elements of each producer
  LoadFault fault;
};

WEFT_BOTH inline uint64_t proofOf(uint64_t seed, uint64_t first) {
  uint64_t mixed = (first + seed) * 0x9E3779B97F4A7C15ull;
  return (mixed ^ (mixed >> 29)) & kPayloadMask;
}

WEFT_BOTH inline Element elementOf(const Load& load, uint64_t producer, uint64_t number) {
  bool wrong = load.fault.kind != LoadFault::None && producer == 0;
  if (wrong && load.fault.kind == LoadFault::Drop && number >= load.fault.at) number++;
  if (wrong && load.fault.kind == LoadFault::Duplicate && number == load.fault.at) number--;
  uint64_t first = producer << kNumberBits | number;
  uint64_t second = proofOf(load.seed, first);
  if (wrong && load.fault.kind == LoadFault::Flip && number == load.fault.at) second ^= 1;
  return {first, second};
}

}  // namespace weft::queue
