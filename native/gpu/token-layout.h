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

/// What a sum adds, in memory that the GPU reaches.
struct SumAddend {
  const uint8_t* from;
  float weight;
};

/// A stretch of a sum: `to[i] = Σ weight × from[skip + i]` of some addends, added and rounded as RowSums does. `to` is
/// an addend itself or apart from all of them.
struct SumPiece {
  uint8_t* to;
  uint64_t skip;  // bytes of the addends
  uint32_t firstAddend, addends;
  uint32_t elements;
  uint32_t vectors;  // whether all of it, addends included, consists of whole vectors
};

constexpr unsigned kVectorBytes = 16;
constexpr unsigned kWarpThreads = 32;

}  // namespace weft
