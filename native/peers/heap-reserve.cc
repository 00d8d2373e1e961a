#include "heap-reserve.h"

#include <malloc.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <vector>

namespace weft {

namespace {

constexpr size_t kReserve = size_t{64} << 20;  // not touched, so it takes no memory until it is used
constexpr size_t kBlock = size_t{64} << 10;    // small enough that malloc takes it from the heap
constexpr int kUsualPad = 128 << 10;

}  // namespace

void reserveHeap() {
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, kReserve);
  // The next block that does not fit makes malloc grow the heap by the reserve. Where something lies behind the heap,
  // malloc goes elsewhere and the end of the heap stays.
  const void* before = sbrk(0);
  std::vector<void*> blocks;
  while (sbrk(0) == before && blocks.size() * kBlock < kReserve) blocks.push_back(std::malloc(kBlock));
  for (void* block : blocks) std::free(block);
  mallopt(M_TOP_PAD, kUsualPad);
}

}  // namespace weft
