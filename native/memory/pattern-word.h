#pragma once
// The test pattern itself: the one source for the CPU (native/memory/pattern.cc) and the GPU (kernels/pattern.cu).
#include <cstdint>

#ifdef __CUDACC__
#define WEFT_EVERYWHERE __host__ __device__ inline
#else
#define WEFT_EVERYWHERE inline
#endif

namespace weft {

constexpr uint64_t kPatternWordBytes = 8;
constexpr uint64_t kPatternStep = 0x9E3779B97F4A7C15ull;

/// Seeds are small numbers: spread them so that neighbouring seeds do not give shifted copies of one pattern.
WEFT_EVERYWHERE uint64_t spreadSeed(uint64_t seed) {
  seed = (seed ^ (seed >> 31)) * 0xBF58476D1CE4E5B9ull;
  seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EBull;
  return seed ^ (seed >> 32);
}

/// One multiplication a word, of (spread seed + index): the phase. It grows by kPatternStep a word, so a loop adds
/// instead of multiplying, which on a GPU is the difference between memory speed and a third of it.
WEFT_EVERYWHERE uint64_t patternPhase(uint64_t seed, uint64_t index) { return (index + seed) * kPatternStep; }

/// The word of a phase; the shift brings the well-mixed high half down.
WEFT_EVERYWHERE uint64_t patternWord(uint64_t phase) { return phase ^ (phase >> 29); }

WEFT_EVERYWHERE uint8_t patternByte(uint64_t seed, uint64_t position) {
  uint64_t word = patternWord(patternPhase(seed, position / kPatternWordBytes));
  return static_cast<uint8_t>(word >> (8 * (position % kPatternWordBytes)));
}

struct PatternPair {
  uint64_t low, high;
};

/// 16 bytes of pattern that start `shift` bits into the word of `phase`: 0, 8, … 56.
template <bool shifted>
WEFT_EVERYWHERE PatternPair patternPair(uint64_t phase, unsigned shift) {
  uint64_t first = patternWord(phase), second = patternWord(phase + kPatternStep);
  if (!shifted) return {first, second};
  uint64_t third = patternWord(phase + 2 * kPatternStep);
  return {(first >> shift) | (second << (64 - shift)), (second >> shift) | (third << (64 - shift))};
}

}  // namespace weft
