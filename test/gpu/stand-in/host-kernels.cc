// kernels/pattern.cu compiled for the CPU: the very source, with CUDA's words spelled out, every thread of a launch
// one after the other. Right for kernels whose threads do not wait for each other.
#include "host-kernels.h"

#include <cstdint>
#include <cstring>

#define __global__
#define __device__
#define __launch_bounds__(threads)

struct ulonglong2 {
  unsigned long long x, y;
};

namespace {

struct Index {
  unsigned x;
};
thread_local Index threadIdx, blockIdx, blockDim, gridDim;

ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }
ulonglong2 __ldcs(const ulonglong2* from) { return *from; }
int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }
int __ffsll(long long bits) { return __builtin_ffsll(bits); }
void atomicAdd(unsigned long long* to, unsigned long long value) { *to += value; }
void atomicMin(unsigned long long* to, unsigned long long value) {
  if (value < *to) *to = value;
}

}  // namespace

#include "../../../kernels/pattern.cu"

namespace {

template <typename T>
T argument(void** parameters, int index) {
  T value;
  std::memcpy(&value, parameters[index], sizeof(T));
  return value;
}

bool runThread(const char* name, void** p) {
  auto* data = argument<uint8_t*>(p, 0);
  auto bytes = argument<uint64_t>(p, 1);
  if (std::strcmp(name, "weft_read") == 0) {
    weft_read(data, bytes, argument<unsigned long long*>(p, 2));
    return true;
  }
  auto seed = argument<uint64_t>(p, 2), position = argument<uint64_t>(p, 3);
  if (std::strcmp(name, "weft_fill") == 0) {
    weft_fill(data, bytes, seed, position);
  } else if (std::strcmp(name, "weft_verify") == 0) {
    weft_verify(data, bytes, seed, position, argument<unsigned long long*>(p, 4));
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool runKernel(const char* name, unsigned grid, unsigned block, void** parameters) {
  gridDim.x = grid;
  blockDim.x = block;
  for (blockIdx.x = 0; blockIdx.x < grid; blockIdx.x++) {
    for (threadIdx.x = 0; threadIdx.x < block; threadIdx.x++) {
      if (!runThread(name, parameters)) return false;
    }
  }
  return true;
}
