// Time and chance. Each device draws from a generator of its own, so that a seed gives the same choices every time.
#pragma once
#include <time.h>

#include <cstdint>

namespace efa {

constexpr uint64_t kMicrosecond = 1000;
constexpr uint64_t kMillisecond = 1000 * kMicrosecond;
constexpr uint64_t kNever = UINT64_MAX;

inline uint64_t clock_ns(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}
inline uint64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }
/// A few milliseconds behind at most, and cheap enough for every post.
inline uint64_t coarse_now_ns() { return clock_ns(CLOCK_MONOTONIC_COARSE); }

/// xorshift64*: one multiplication per draw.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u | 1u) {}
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  /// 0 … bound - 1.
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(((next() >> 32) * bound) >> 32); }
  bool percent(uint32_t chance) { return chance != 0 && below(100) < chance; }

 private:
  uint64_t state_;
};

}  // namespace efa
