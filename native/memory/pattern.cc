#include "pattern.h"

#include <algorithm>
#include <cstring>

#include "pattern-word.h"

namespace weft {

namespace {

constexpr size_t kWord = kPatternWordBytes;
constexpr size_t kBlockWords = 512;

inline uint64_t wordAt(uint64_t seed, uint64_t index) { return patternWord(patternPhase(seed, index)); }

void inspect(const uint8_t* data, size_t bytes, uint64_t seed, uint64_t position, uint64_t base, Mismatch& result) {
  for (size_t i = 0; i < bytes; i++) {
    uint8_t expected = patternByte(seed, position + i);
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
  uint64_t seed = spreadSeed(seedNumber);
  size_t head = std::min(bytes, (kWord - first % kWord) % kWord);
  for (size_t i = 0; i < head; i++) data[i] = patternByte(seed, first + i);
  size_t words = (bytes - head) / kWord;
  uint64_t index = (first + head) / kWord;
  uint8_t* body = data + head;
  for (size_t i = 0; i < words; i++) {
    uint64_t word = wordAt(seed, index + i);
    std::memcpy(body + i * kWord, &word, kWord);
  }
  for (size_t i = head + words * kWord; i < bytes; i++) data[i] = patternByte(seed, first + i);
}

Mismatch verifyPattern(const uint8_t* data, size_t bytes, uint64_t seedNumber, uint64_t first) {
  Mismatch result;
  uint64_t seed = spreadSeed(seedNumber);
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
