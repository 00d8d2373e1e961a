#pragma once
#include <cstdint>
#include <ctime>

namespace weft {

/// CLOCK_MONOTONIC, the one clock of a rank.
inline uint64_t monotonicNanoseconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace weft
