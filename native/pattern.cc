#include "pattern.h"

#include <algorithm>
#include <cstring>

namespace weft {

namespace {

constexpr size_t kWord = sizeof(uint64_t);
constexpr size_t kBlockWords = 512;

// One multiplication a word keeps this at memory speed; the shift brings the well-mixed high half down.
inline uint64_t wordAt(uint64_t seed, uint64_t index) {
  uint64_t mixed = (index + seed) * 0x9E3779B97F4A7C15ull;
  return mixed ^ (mixed >> 29);
}

inline uint8_t byteAt(uint64_t seed, uint64_t position) {
  return static_cast<uint8_t>(wordAt(seed, position / kWord) >> (8 * (position % kWord)));
}

// Seeds are small numbers: spread them so that neighbouring seeds do not give shifted copies of one pattern.
inline uint64_t spread(uint64_t seed) {
  seed = (seed ^ (seed >> 31)) * 0xBF58476D1CE4E5B9ull;
  seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EBull;
  return seed ^ (seed >> 32);
}

void inspect(const uint8_t* data, size_t bytes, uint64_t seed, uint64_t position, uint64_t base, Mismatch& result) {
  for (size_t i = 0; i < bytes; i++) {
    uint8_t expected = byteAt(seed, position + i);
    if (data[i] == expected) continue;
    if (result.wrong++ == 0) {
      result.offset = base + i;
      result.expected = expected;
      result.found = data[i];
    }
  }
}

}  // namespace

void fillPattern(uint8_t* data, size_t bytes, uint64_t seedNumber, uint64_t first) {
  uint64_t seed = spread(seedNumber);
  size_t head = std::min(bytes, (kWord - first % kWord) % kWord);
  for (size_t i = 0; i < head; i++) data[i] = byteAt(seed, first + i);
  size_t words = (bytes - head) / kWord;
  uint64_t index = (first + head) / kWord;
  uint8_t* body = data + head;
  for (size_t i = 0; i < words; i++) {
    uint64_t word = wordAt(seed, index + i);
    std::memcpy(body + i * kWord, &word, kWord);
  }
  for (size_t i = head + words * kWord; i < bytes; i++) data[i] = byteAt(seed, first + i);
}

Mismatch verifyPattern(const uint8_t* data, size_t bytes, uint64_t seedNumber, uint64_t first) {
  Mismatch result;
  uint64_t seed = spread(seedNumber);
  size_t head = std::min(bytes, (kWord - first % kWord) % kWord);
  inspect(data, head, seed, first, 0, result);
  size_t done = head;
  // Blocks are compared without branches; only a block that differs is looked at byte by byte.
  while (bytes - done >= kWord) {
    size_t words = std::min(kBlockWords, (bytes - done) / kWord);
    uint64_t index = (first + done) / kWord;
    uint64_t difference = 0;
    for (size_t i = 0; i < words; i++) {
      uint64_t word;
      std::memcpy(&word, data + done + i * kWord, kWord);
      difference |= word ^ wordAt(seed, index + i);
    }
    if (difference) inspect(data + done, words * kWord, seed, first + done, done, result);
    done += words * kWord;
  }
  inspect(data + done, bytes - done, seed, first + done, done, result);
  return result;
}

}  // namespace weft
