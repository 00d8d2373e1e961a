#pragma once
// The types of numbers that are added. Those of 16 bits become floats and back, rounded to nearest, ties to even; none of
// that branches, so that the compiler takes many numbers at a time.
#include <bit>
#include <cstddef>
#include <cstdint>

namespace weft {

/// In the order of `sumDtypes` in src/plan/plan.ts.
enum class SumDtype : uint8_t { Float32, Float16, BFloat16, Int32 };
constexpr size_t kSumDtypes = 4;

constexpr size_t bytesOf(SumDtype dtype) {
  return dtype == SumDtype::Float16 || dtype == SumDtype::BFloat16 ? 2 : 4;
}

inline float fromBfloat16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

inline uint16_t toBfloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  uint32_t nan = bits >> 16 | 0x40;  // quiet, with the bits it has room for
  return static_cast<uint16_t>((bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded);
}

// The compiler does not calculate both sides of a choice with floats.
inline uint32_t pick(bool first, uint32_t one, uint32_t other) { return other ^ ((one ^ other) & (0u - first)); }

inline float fromFloat16(uint16_t word) {
  const uint32_t exponent = word & 0x7C00, sign = static_cast<uint32_t>(word & 0x8000) << 16;
  uint32_t bits = (static_cast<uint32_t>(word & 0x7FFF) << 13) + 0x38000000;  // the exponent's bias differs by 112
  // A subnormal number is a fraction of 2^-14: with that added, and taken away again, it gets its exponent.
  const float subnormal = std::bit_cast<float>(bits + 0x00800000) - 0x1p-14f;
  bits = pick(exponent == 0x7C00, bits + 0x38000000, bits);
  bits = pick(exponent == 0, std::bit_cast<uint32_t>(subnormal), bits);
  return std::bit_cast<float>(bits | sign);
}

inline uint16_t toFloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 16 & 0x8000;
  bits &= 0x7FFFFFFF;
  uint32_t normal = (bits - 0x38000000 + 0xFFF + (bits >> 13 & 1)) >> 13;
  // Added to 0.5, a subnormal result lies in the lowest bits, rounded by the addition.
  uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0.5f) - std::bit_cast<uint32_t>(0.5f);
  uint32_t large = pick(bits > 0x7F800000, 0x7E00, 0x7C00);
  uint32_t small = pick(bits < 0x38800000, subnormal, normal);
  return static_cast<uint16_t>(sign | pick(bits >= 0x47800000, large, small));
}

}  // namespace weft
