#pragma once
#include <cstddef>
#include <cstdint>

#include "pattern.h"

namespace weft {

/// How running numbers are stored. The value is a whole number of 64 bits; `Float32` rounds it to the nearest, ties to
/// even, `Int32` keeps its low 32 bits: what torch.arange makes of them.
enum class NumberType : uint8_t { Float32, Int32, Int64 };

size_t bytesOf(NumberType type);

/// Writes `bytes` of the running numbers from `first` on. `inverted` writes the complement of each: in every byte
/// different from what a fill with the same arguments would leave.
void fillSequence(uint8_t* data, size_t bytes, NumberType type, int64_t first, bool inverted);

/// Compares every element, bit by bit. `wrong` counts bytes; offset, expected and found are those of the first.
Mismatch verifySequence(const uint8_t* data, size_t bytes, NumberType type, int64_t first);

}  // namespace weft
