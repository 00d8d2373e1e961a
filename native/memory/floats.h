#pragma once
// Numbers of 16 bits as floats and back, rounded to nearest, ties to even.
#include <bit>
#include <cstdint>

namespace weft {

inline float fromBfloat16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

inline uint16_t toBfloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value != value) return static_cast<uint16_t>(bits >> 16 | 0x40);  // quiet, whatever the low half held
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

inline float fromFloat16(uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
inline uint16_t toFloat16(float value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }

}  // namespace weft
