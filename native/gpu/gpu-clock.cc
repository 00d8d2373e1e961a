#include "gpu-clock.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "../clock.h"
#include "../fault.h"
#include "../memory/mapping.h"
#include "queue.h"

namespace weft {

namespace {

constexpr unsigned kExchanges = 2000;
constexpr uint64_t kPatienceNanoseconds = 5'000'000'000;
constexpr uint64_t kEnd = ~0ull;

struct alignas(64) Word {
  uint64_t value;
};

}  // namespace

ClockRelation relateClocks(const GpuContextPtr& context) {
  Mapping mapping(3 * sizeof(Word), false);
  HostRegistration registration(context, mapping.data(), mapping.bytes());
  auto* words = reinterpret_cast<Word*>(mapping.data());
  std::atomic_ref call(words[0].value), answer(words[1].value);
  Stream stream(context);
  CuPointer base = registration.devicePointer();
  launch(kernel(*context, "queue", "weftClock"), 1, 1, stream, base, base + sizeof(Word), base + 2 * sizeof(Word));
  uint64_t shortest = ~0ull;
  ClockRelation relation;
  for (uint64_t round = 1; round <= kExchanges; round++) {
    uint64_t start = monotonicNanoseconds();
    call.store(round, std::memory_order_release);
    uint64_t got, end;
    do {
      got = answer.load(std::memory_order_acquire);
      end = monotonicNanoseconds();
      if (end - start < kPatienceNanoseconds) continue;
      call.store(kEnd);
      stream.synchronize();
      throw Fault("clock", ETIMEDOUT, "the GPU did not answer");
    } while ((got & queue::kTagMask) != (round & queue::kTagMask));
    if (end - start >= shortest) continue;
    shortest = end - start;
    uint64_t middle = start + shortest / 2;
    // The answer is cut to 48 bits, as are the times that elements carry: only such differences are taken.
    auto difference = static_cast<int64_t>(((got >> queue::kTagBits) - middle) << queue::kTagBits) >> queue::kTagBits;
    relation.offset = static_cast<double>(difference);
  }
  call.store(kEnd);
  stream.synchronize();
  relation.uncertainty = static_cast<double>(shortest) / 2 + static_cast<double>(words[2].value);
  return relation;
}

ClockRelation between(const ClockRelation& before, const ClockRelation& after) {
  double drift = std::abs(after.offset - before.offset);
  return {(before.offset + after.offset) / 2, std::max(before.uncertainty, after.uncertainty) + drift / 2};
}

}  // namespace weft
