// kernels/pattern.cu and kernels/tokens.cu compiled for the CPU: the very sources, with CUDA's words spelled out, every
// thread of a launch one after the other. Right for kernels whose threads do not wait for each other.
#include "host-kernels.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "../../../native/memory/floats.h"

#define __global__
#define __device__
#define __launch_bounds__(...)

struct alignas(16) ulonglong2 {
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

float __fmul_rn(float a, float b) { return a * b; }
float __fadd_rn(float a, float b) { return a + b; }
float halfToFloat(uint16_t bits) { return weft::fromFloat16(bits); }
uint16_t floatToHalf(float value) { return weft::toFloat16(value); }

}  // namespace

#include "../../../kernels/pattern.cu"
#include "../../../kernels/tokens.cu"

namespace {

template <typename T>
T argument(void** parameters, int index) {
  T value;
  std::memcpy(&value, parameters[index], sizeof(T));
  return value;
}

using Data = uint8_t*;
using Words = unsigned long long*;
using Pieces = const weft::SumPiece*;
using Addends = const weft::SumAddend*;

bool runThread(const std::string& name, void** p) {
  auto number = [p](int index) { return argument<uint64_t>(p, index); };
  if (name == "weft_read") weft_read(argument<Data>(p, 0), number(1), argument<Words>(p, 2));
  else if (name == "weft_fill") weft_fill(argument<Data>(p, 0), number(1), number(2), number(3));
  else if (name == "weft_verify") weft_verify(argument<Data>(p, 0), number(1), number(2), number(3), argument<Words>(p, 4));
  else if (name == "weft_copy_parts")
    weft_copy_parts(argument<Data>(p, 0), argument<Data>(p, 1), argument<const weft::CopyPart*>(p, 2), number(3));
  else if (name == "weft_sum_float32") weft_sum_float32(argument<weft::RowSums>(p, 0));
  else if (name == "weft_sum_float16") weft_sum_float16(argument<weft::RowSums>(p, 0));
  else if (name == "weft_sum_bfloat16") weft_sum_bfloat16(argument<weft::RowSums>(p, 0));
  else if (name == "weft_add_float32") weft_add_float32(argument<Pieces>(p, 0), argument<Addends>(p, 1), number(2));
  else if (name == "weft_add_float16") weft_add_float16(argument<Pieces>(p, 0), argument<Addends>(p, 1), number(2));
  else if (name == "weft_add_bfloat16") weft_add_bfloat16(argument<Pieces>(p, 0), argument<Addends>(p, 1), number(2));
  else return false;
  return true;
}

/// Bytes that a copy by the driver would have moved in the same time.
size_t workOf(const std::string& name, void** p) {
  if (name == "weft_copy_parts") {
    auto* parts = argument<const weft::CopyPart*>(p, 2);
    size_t bytes = 0;
    for (uint64_t i = 0; i < argument<uint64_t>(p, 3); i++) bytes += parts[i].bytes;
    return bytes;
  }
  if (name.starts_with("weft_add_")) {
    size_t numbers = 0;
    for (uint64_t i = 0; i < argument<uint64_t>(p, 2); i++) {
      const weft::SumPiece& piece = argument<Pieces>(p, 0)[i];
      numbers += (piece.addends + 1) * piece.elements;
    }
    return numbers * (name == "weft_add_float32" ? 4 : 2) / 2;
  }
  if (name.starts_with("weft_sum_")) {
    auto sums = argument<weft::RowSums>(p, 0);
    size_t rows = sums.tokens;
    for (uint64_t i = 0; i < sums.tokens * sums.addends; i++) rows += sums.index[i] >= 0;
    return rows * sums.elements * (name == "weft_sum_float32" ? 4 : 2) / 2;
  }
  return argument<uint64_t>(p, 1);
}

}  // namespace

std::optional<size_t> runKernel(const std::string& name, unsigned grid, unsigned block, void** parameters) {
  gridDim.x = grid;
  blockDim.x = block;
  for (blockIdx.x = 0; blockIdx.x < grid; blockIdx.x++) {
    for (threadIdx.x = 0; threadIdx.x < block; threadIdx.x++) {
      if (!runThread(name, parameters)) return std::nullopt;
    }
  }
  return workOf(name, parameters);
}
