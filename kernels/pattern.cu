// The test pattern on the GPU: fill, verify, and a plain read that is verify's ceiling. A block works on tiles of
// kUnroll × blockDim vectors of 16 bytes, so that a thread has kUnroll independent accesses in flight; blocks take
// tiles in turn. The few bytes before the first and after the last aligned vector belong to block 0.
#include "../native/memory/pattern-word.h"

namespace {

using weft::PatternPair;
using Vector = ulonglong2;

constexpr unsigned kVectorBytes = 16;
constexpr unsigned kUnroll = 4;

/// Where the aligned vectors of a buffer lie, and where in the pattern they are.
struct Body {
  uint64_t head;     // bytes before the first vector
  uint64_t vectors;
  uint64_t tail;     // bytes after the last
  uint64_t phase;    // of the first vector
  unsigned shift;    // bits of its first word that lie before it

  __device__ Body(const uint8_t* data, uint64_t bytes, uint64_t seed, uint64_t position) {
    uint64_t ahead = (kVectorBytes - reinterpret_cast<uintptr_t>(data) % kVectorBytes) % kVectorBytes;
    head = ahead < bytes ? ahead : bytes;
    vectors = (bytes - head) / kVectorBytes;
    tail = (bytes - head) % kVectorBytes;
    uint64_t first = position + head;
    phase = weft::patternPhase(seed, first / weft::kPatternWordBytes);
    shift = 8 * static_cast<unsigned>(first % weft::kPatternWordBytes);
  }
};

/// Calls `whole(vector, phase)` for the first vector of this thread in every full tile, and `single(vector, phase)`
/// for its vectors of the last, partial one. A vector is two words.
template <typename Whole, typename Single>
__device__ void forTiles(const Body& body, Whole whole, Single single) {
  uint64_t tileVectors = static_cast<uint64_t>(kUnroll) * blockDim.x;
  uint64_t tiles = body.vectors / tileVectors;
  uint64_t vector = blockIdx.x * tileVectors + threadIdx.x;
  uint64_t phase = body.phase + vector * (2 * weft::kPatternStep);
  uint64_t stride = gridDim.x * tileVectors;
  uint64_t phaseStride = stride * (2 * weft::kPatternStep);
  uint64_t tile = blockIdx.x;
  for (; tile < tiles; tile += gridDim.x, vector += stride, phase += phaseStride) whole(vector, phase);
  if (tile != tiles) return;
  for (; vector < body.vectors; vector += blockDim.x, phase += blockDim.x * (2 * weft::kPatternStep)) {
    single(vector, phase);
  }
}

/// Calls `byte(offset)` on one thread for each byte of head and tail.
template <typename Byte>
__device__ void forEdges(const Body& body, Byte byte) {
  if (blockIdx.x != 0) return;
  unsigned thread = threadIdx.x;
  if (thread < body.head) byte(thread);
  if (thread < body.tail) byte(body.head + body.vectors * kVectorBytes + thread);
}

template <bool shifted>
__device__ Vector expectedAt(uint64_t phase, unsigned shift) {
  PatternPair pair = weft::patternPair<shifted>(phase, shift);
  return make_ulonglong2(pair.low, pair.high);
}

template <bool shifted>
__device__ void fillBody(Vector* vectors, const Body& body) {
  uint64_t phaseStep = blockDim.x * (2 * weft::kPatternStep);
  forTiles(
      body,
      [&](uint64_t vector, uint64_t phase) {
#pragma unroll
        for (unsigned k = 0; k < kUnroll; k++) {
          vectors[vector + k * blockDim.x] = expectedAt<shifted>(phase + k * phaseStep, body.shift);
        }
      },
      [&](uint64_t vector, uint64_t phase) { vectors[vector] = expectedAt<shifted>(phase, body.shift); });
}

/// What one thread found wrong.
struct Finding {
  uint64_t wrong = 0;
  uint64_t offset = ~0ull;

  __device__ void note(uint64_t at, uint64_t difference) {
    if (difference == 0) return;
    // One bit for each byte that differs.
    uint64_t bytes = difference | (difference >> 4);
    bytes |= bytes >> 2;
    bytes |= bytes >> 1;
    wrong += __popcll(bytes & 0x0101010101010101ull);
    uint64_t first = at + (__ffsll(static_cast<long long>(difference)) - 1) / 8;
    if (first < offset) offset = first;
  }
};

__device__ Vector differenceOf(Vector found, Vector expected) {
  return make_ulonglong2(found.x ^ expected.x, found.y ^ expected.y);
}

template <bool shifted>
__device__ void verifyBody(const Vector* vectors, const Body& body, Finding& finding) {
  uint64_t phaseStep = blockDim.x * (2 * weft::kPatternStep);
  auto note = [&](uint64_t vector, Vector difference) {
    finding.note(body.head + vector * kVectorBytes, difference.x);
    finding.note(body.head + vector * kVectorBytes + 8, difference.y);
  };
  forTiles(
      body,
      [&](uint64_t vector, uint64_t phase) {
        Vector seen[kUnroll];
#pragma unroll
        for (unsigned k = 0; k < kUnroll; k++) seen[k] = __ldcs(&vectors[vector + k * blockDim.x]);
        uint64_t any = 0;
#pragma unroll
        for (unsigned k = 0; k < kUnroll; k++) {
          seen[k] = differenceOf(seen[k], expectedAt<shifted>(phase + k * phaseStep, body.shift));
          any |= seen[k].x | seen[k].y;
        }
        if (any == 0) return;
#pragma unroll
        for (unsigned k = 0; k < kUnroll; k++) note(vector + k * blockDim.x, seen[k]);
      },
      [&](uint64_t vector, uint64_t phase) {
        note(vector, differenceOf(vectors[vector], expectedAt<shifted>(phase, body.shift)));
      });
}

}  // namespace

/// `seed` is spread already. Works for any grid and for blocks of 32 threads or more.
extern "C" __global__ void __launch_bounds__(1024)
    weft_fill(uint8_t* data, uint64_t bytes, uint64_t seed, uint64_t position) {
  Body body(data, bytes, seed, position);
  auto* vectors = reinterpret_cast<Vector*>(data + body.head);
  forEdges(body, [&](uint64_t at) { data[at] = weft::patternByte(seed, position + at); });
  if (body.shift == 0) {
    fillBody<false>(vectors, body);
  } else {
    fillBody<true>(vectors, body);
  }
}

/// `result` is the number of wrong bytes, which starts at 0, and the offset of the first, which starts at 2^64 - 1.
extern "C" __global__ void __launch_bounds__(1024)
    weft_verify(const uint8_t* data, uint64_t bytes, uint64_t seed, uint64_t position, unsigned long long* result) {
  Body body(data, bytes, seed, position);
  auto* vectors = reinterpret_cast<const Vector*>(data + body.head);
  Finding finding;
  forEdges(body, [&](uint64_t at) {
    finding.note(at, static_cast<uint64_t>(data[at] ^ weft::patternByte(seed, position + at)));
  });
  if (body.shift == 0) {
    verifyBody<false>(vectors, body, finding);
  } else {
    verifyBody<true>(vectors, body, finding);
  }
  if (finding.wrong == 0) return;
  atomicAdd(&result[0], static_cast<unsigned long long>(finding.wrong));
  atomicMin(&result[1], static_cast<unsigned long long>(finding.offset));
}

/// Reads as verify does and folds what it read into one word per thread of `folded`.
extern "C" __global__ void __launch_bounds__(1024)
    weft_read(const uint8_t* data, uint64_t bytes, unsigned long long* folded) {
  Body body(data, bytes, 0, 0);
  auto* vectors = reinterpret_cast<const Vector*>(data + body.head);
  uint64_t fold = 0;
  forTiles(
      body,
      [&](uint64_t vector, uint64_t) {
        Vector seen[kUnroll];
#pragma unroll
        for (unsigned k = 0; k < kUnroll; k++) seen[k] = __ldcs(&vectors[vector + k * blockDim.x]);
#pragma unroll
        for (unsigned k = 0; k < kUnroll; k++) fold ^= seen[k].x ^ seen[k].y;
      },
      [&](uint64_t vector, uint64_t) { fold ^= vectors[vector].x ^ vectors[vector].y; });
  folded[static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x] = fold;
}
