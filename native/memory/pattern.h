#pragma once
#include <cstddef>
#include <cstdint>

namespace weft {

/// The test pattern: 64-bit word i of a buffer is a hash of (seed, i), little endian, so every byte depends on
/// its position and on the seed. `first` is the position of `data[0]`, in bytes, and need not be aligned.
void fillPattern(uint8_t* data, size_t bytes, uint64_t seed, uint64_t first);

struct Mismatch {
  uint64_t wrong = 0;   // bytes that differ
  uint64_t offset = 0;  // of the first of them, from data[0]
  uint8_t expected = 0;
  uint8_t found = 0;
};

Mismatch verifyPattern(const uint8_t* data, size_t bytes, uint64_t seed, uint64_t first);

}  // namespace weft
