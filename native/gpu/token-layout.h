#pragma once
// What kernels/tokens.cu and the CPU that launches it both know.
#include <cstdint>

namespace weft {

/// Bytes to copy, at offsets from the starts of two buffers.
struct CopyPart {
  uint64_t from, to, bytes;
};

/// Sums of rows: `to[t] = Σ weights[t·addends + j] × from[index[t·addends + j]]`, without the addends whose index is
/// negative. Every product is rounded to float32, added in float32 in the order of the list, and the sum is rounded
/// once, to the nearest, ties to even. Without addends it is +0.
struct RowSums {
  uint8_t* to;
  const uint8_t* from;
  const int32_t* index;
  const float* weights;
  uint64_t tokens;
  uint32_t addends;
  uint32_t elements;  // of a row; rows lie side by side
};

constexpr unsigned kWarpThreads = 32;

}  // namespace weft
