// Writes the test pattern with 16-byte stores into memory that may be another process's or another GPU's.
#include "../native/memory/pattern-word.h"

namespace {

constexpr unsigned kTogether = 8;

__device__ ulonglong2 vectorAt(uint64_t phase) {
  return make_ulonglong2(weft::patternWord(phase), weft::patternWord(phase + weft::kPatternStep));
}

}  // namespace

/// `seed` is spread already. Threads take vectors in turn, so that a warp's stores lie side by side.
extern "C" __global__ void __launch_bounds__(1024) weftIpcWrite(ulonglong2* to, uint64_t vectors, uint64_t seed) {
  uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  uint64_t first = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  uint64_t phase = weft::patternPhase(seed, 2 * first);
  uint64_t step = stride * (2 * weft::kPatternStep);
  uint64_t i = first;
  // Several stores ready at a time: few warps must keep the memory busy.
  for (; i + (kTogether - 1) * stride < vectors; i += kTogether * stride) {
    ulonglong2 words[kTogether];
#pragma unroll
    for (unsigned k = 0; k < kTogether; k++, phase += step) words[k] = vectorAt(phase);
#pragma unroll
    for (unsigned k = 0; k < kTogether; k++) to[i + k * stride] = words[k];
  }
  for (; i < vectors; i += stride, phase += step) to[i] = vectorAt(phase);
}
