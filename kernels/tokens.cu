// Rows of tokens and pages of a cache: copies of many parts, and weighted sums. Any address may be of pinned
// host memory. No thread waits for another.
#include "../native/gpu/token-layout.h"

namespace {

using weft::CopyPart;
using weft::RowSums;
using weft::SumAddend;
using weft::SumPiece;
using Vector = ulonglong2;
static_assert(sizeof(Vector) == weft::kVectorBytes, "the CPU decides where vectors fit");

/// Independent accesses of a thread in flight.
constexpr unsigned kCopiesTogether = 4;
constexpr unsigned kAddendsTogether = 8;

__device__ bool isAligned(uint64_t address, uint64_t bytes) { return address % bytes == 0; }

/// One warp. The bytes before the first and after the last whole word are fewer than its threads.
template <typename Word>
__device__ void copyWords(uint8_t* to, const uint8_t* from, uint64_t bytes, unsigned lane) {
  uint64_t ahead = (sizeof(Word) - reinterpret_cast<uintptr_t>(to) % sizeof(Word)) % sizeof(Word);
  uint64_t head = ahead < bytes ? ahead : bytes;
  uint64_t words = (bytes - head) / sizeof(Word);
  uint64_t last = head + words * sizeof(Word);
  if (lane < head) to[lane] = from[lane];
  if (lane < bytes - last) to[last + lane] = from[last + lane];
  auto* target = reinterpret_cast<Word*>(to + head);
  auto* source = reinterpret_cast<const Word*>(from + head);
  for (uint64_t i = lane; i < words; i += kCopiesTogether * weft::kWarpThreads) {
    Word seen[kCopiesTogether];
#pragma unroll
    for (unsigned k = 0; k < kCopiesTogether; k++) {
      if (i + k * weft::kWarpThreads < words) seen[k] = source[i + k * weft::kWarpThreads];
    }
#pragma unroll
    for (unsigned k = 0; k < kCopiesTogether; k++) {
      if (i + k * weft::kWarpThreads < words) target[i + k * weft::kWarpThreads] = seen[k];
    }
  }
}

__device__ float floatOf(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

__device__ uint32_t bitsOf(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

#ifdef __CUDACC__
__device__ float halfToFloat(uint16_t bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

__device__ uint16_t floatToHalf(float value) {
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
#endif

struct Float32 {
  using Bits = uint32_t;
  static __device__ float wide(Bits bits) { return floatOf(bits); }
  static __device__ Bits rounded(float value) { return bitsOf(value); }
};

struct Float16 {
  using Bits = uint16_t;
  static __device__ float wide(Bits bits) { return halfToFloat(bits); }
  static __device__ Bits rounded(float value) { return floatToHalf(value); }
};

struct Bfloat16 {
  using Bits = uint16_t;
  static __device__ float wide(Bits bits) { return floatOf(static_cast<uint32_t>(bits) << 16); }
  static __device__ Bits rounded(float value) {
    uint32_t bits = bitsOf(value);
    if (value != value) return static_cast<Bits>(bits >> 16 | 0x40);  // a quiet NaN
    return static_cast<Bits>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
  }
};

/// The addends of one token, from byte `at` of each row.
struct RowAddends {
  const RowSums& sums;
  uint64_t first, rowBytes, at;
  __device__ unsigned count() const { return sums.addends; }
  /// Null where it is left out.
  __device__ const uint8_t* place(unsigned k) const {
    int32_t row = sums.index[first + k];
    return row < 0 ? nullptr : sums.from + static_cast<uint64_t>(row) * rowBytes + at;
  }
  __device__ float weight(unsigned k) const { return sums.weights[first + k]; }
};

/// The addends of a piece, from byte `at` of it.
struct PieceAddends {
  const SumAddend* addends;
  unsigned number;
  uint64_t at;
  __device__ unsigned count() const { return number; }
  __device__ const uint8_t* place(unsigned k) const { return addends[k].from + at; }
  __device__ float weight(unsigned k) const { return addends[k].weight; }
};

/// One thread: the elements of one Word. The products are not fused with the additions: a CPU that adds in the same
/// order gets the same sum.
template <typename Type, typename Word, typename Addends>
__device__ void addUp(uint8_t* to, const Addends& addends) {
  using Bits = typename Type::Bits;
  constexpr unsigned count = sizeof(Word) / sizeof(Bits);
  float sum[count];
  for (float& one : sum) one = -0.0f;  // which changes no addend, not even -0
  bool any = false;
  for (unsigned first = 0; first < addends.count(); first += kAddendsTogether) {
    Word seen[kAddendsTogether] = {};
    bool there[kAddendsTogether];
#pragma unroll
    for (unsigned k = 0; k < kAddendsTogether; k++) {
      const uint8_t* place = first + k < addends.count() ? addends.place(first + k) : nullptr;
      there[k] = place != nullptr;
      if (there[k]) seen[k] = *reinterpret_cast<const Word*>(place);
    }
#pragma unroll
    for (unsigned k = 0; k < kAddendsTogether; k++) {
      if (!there[k]) continue;
      any = true;
      float weight = addends.weight(first + k);
      Bits element[count];
      memcpy(element, &seen[k], sizeof(Word));
#pragma unroll
      for (unsigned i = 0; i < count; i++) sum[i] = __fadd_rn(sum[i], __fmul_rn(weight, Type::wide(element[i])));
    }
  }
  Bits rounded[count];
#pragma unroll
  for (unsigned i = 0; i < count; i++) rounded[i] = Type::rounded(any ? sum[i] : 0);
  Word result;
  memcpy(&result, rounded, sizeof(Word));
  *reinterpret_cast<Word*>(to) = result;
}

/// A block takes a tile at a time: as many Words of one token as it has threads.
template <typename Type, typename Word>
__device__ void addTiles(const RowSums& sums) {
  constexpr unsigned count = sizeof(Word) / sizeof(typename Type::Bits);
  uint64_t words = sums.elements / count;
  uint64_t tiles = (words + blockDim.x - 1) / blockDim.x;
  uint64_t rowBytes = sums.elements * sizeof(typename Type::Bits);
  for (uint64_t tile = blockIdx.x; tile < tiles * sums.tokens; tile += gridDim.x) {
    uint64_t word = tile % tiles * blockDim.x + threadIdx.x;
    uint64_t token = tile / tiles, at = word * sizeof(Word);
    if (word < words) addUp<Type, Word>(sums.to + token * rowBytes + at, RowAddends{sums, token * sums.addends, rowBytes, at});
  }
}

/// By vectors where every row starts on one, else by elements.
template <typename Type>
__device__ void addAll(const RowSums& sums) {
  using Bits = typename Type::Bits;
  uint64_t places = reinterpret_cast<uintptr_t>(sums.from) | reinterpret_cast<uintptr_t>(sums.to);
  if (isAligned(places | sums.elements * sizeof(Bits), sizeof(Vector))) addTiles<Type, Vector>(sums);
  else addTiles<Type, Bits>(sums);
}

/// One block.
template <typename Type, typename Word>
__device__ void addPiece(const SumPiece& piece, const SumAddend* addends) {
  constexpr unsigned count = sizeof(Word) / sizeof(typename Type::Bits);
  for (unsigned word = threadIdx.x; word < piece.elements / count; word += blockDim.x) {
    unsigned at = word * static_cast<unsigned>(sizeof(Word));
    addUp<Type, Word>(piece.to + at, PieceAddends{addends + piece.firstAddend, piece.addends, piece.skip + at});
  }
}

/// A block takes a piece at a time.
template <typename Type>
__device__ void addPieces(const SumPiece* pieces, const SumAddend* addends, uint64_t count) {
  for (uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
    SumPiece piece = pieces[i];
    if (piece.vectors) addPiece<Type, Vector>(piece, addends);
    else addPiece<Type, typename Type::Bits>(piece, addends);
  }
}

}  // namespace

/// A warp copies a part at a time; parts of similar length keep all of them busy. Works for any grid, and for blocks
/// of whole warps.
extern "C" __global__ void __launch_bounds__(1024)
    weft_copy_parts(uint8_t* to, const uint8_t* from, const CopyPart* parts, uint64_t count) {
  unsigned lane = threadIdx.x % weft::kWarpThreads;
  uint64_t warps = blockDim.x / weft::kWarpThreads;
  uint64_t first = blockIdx.x * warps + threadIdx.x / weft::kWarpThreads;
  for (uint64_t i = first; i < count; i += gridDim.x * warps) {
    CopyPart part = parts[i];
    uint8_t* target = to + part.to;
    const uint8_t* source = from + part.from;
    uint64_t apart = reinterpret_cast<uintptr_t>(target) ^ reinterpret_cast<uintptr_t>(source);
    if (isAligned(apart, sizeof(Vector))) copyWords<Vector>(target, source, part.bytes, lane);
    else if (isAligned(apart, sizeof(uint32_t))) copyWords<uint32_t>(target, source, part.bytes, lane);
    else copyWords<uint8_t>(target, source, part.bytes, lane);
  }
}

extern "C" __global__ void __launch_bounds__(512, 2) weft_sum_float32(RowSums sums) { addAll<Float32>(sums); }
extern "C" __global__ void __launch_bounds__(512, 2) weft_sum_float16(RowSums sums) { addAll<Float16>(sums); }
extern "C" __global__ void __launch_bounds__(512, 2) weft_sum_bfloat16(RowSums sums) { addAll<Bfloat16>(sums); }

/// With 8 blocks at a time, float16 would spill registers.
extern "C" __global__ void __launch_bounds__(128, 7)
    weft_add_float32(const SumPiece* pieces, const SumAddend* addends, uint64_t count) {
  addPieces<Float32>(pieces, addends, count);
}

extern "C" __global__ void __launch_bounds__(128, 7)
    weft_add_float16(const SumPiece* pieces, const SumAddend* addends, uint64_t count) {
  addPieces<Float16>(pieces, addends, count);
}

extern "C" __global__ void __launch_bounds__(128, 7)
    weft_add_bfloat16(const SumPiece* pieces, const SumAddend* addends, uint64_t count) {
  addPieces<Bfloat16>(pieces, addends, count);
}
