#pragma once
#include <mutex>

#include "cuda-owners.h"
#include "../memory/pattern.h"

namespace weft {

/// The shape of a launch: blocks per multiprocessor × threads per block.
struct GpuShape {
  unsigned blocks;
  unsigned threads;
};

/// Writes saturate the memory from one block a multiprocessor on; reads need more of them in flight.
constexpr GpuShape kFillShape{1, 512};
constexpr GpuShape kVerifyShape{2, 512};

/// The test pattern and other whole-buffer work on one GPU. Has a stream of its own; any thread may call, one at a
/// time. Every call but the `enqueue` ones returns when the work is done, or throws a Fault.
class GpuPattern {
 public:
  explicit GpuPattern(GpuContextPtr context);
  ~GpuPattern();
  GpuPattern(const GpuPattern&) = delete;
  GpuPattern& operator=(const GpuPattern&) = delete;

  void fill(CuPointer data, size_t bytes, uint64_t seed, uint64_t position);
  Mismatch verify(CuPointer data, size_t bytes, uint64_t seed, uint64_t position);
  void set(CuPointer data, size_t bytes, uint8_t value);
  void copyToHost(void* to, CuPointer from, size_t bytes);
  void copyToDevice(CuPointer to, const void* from, size_t bytes);

  /// For several `enqueue` calls and what waits for them: nobody else's work comes between while it is held.
  std::unique_lock<std::mutex> hold() { return std::unique_lock(gate_); }
  const Stream& stream() const { return stream_; }
  void enqueueFill(CuPointer data, size_t bytes, uint64_t seed, uint64_t position, GpuShape shape = kFillShape);
  /// Adds to what earlier calls found, and tells nobody: for timing.
  void enqueueVerify(CuPointer data, size_t bytes, uint64_t seed, uint64_t position, GpuShape shape = kVerifyShape);
  void enqueueRead(CuPointer data, size_t bytes, GpuShape shape = kVerifyShape);
  void enqueueSet(CuPointer data, size_t bytes, uint8_t value);

 private:
  void forget();
  unsigned gridFor(size_t bytes, GpuShape shape) const;

  std::mutex gate_;
  GpuContextPtr context_;
  Stream stream_;
  unsigned multiprocessors_;
  CuPointer findings_ = 0;  // two words: wrong bytes, offset of the first
  CuPointer folded_ = 0;    // one word per thread of the largest launch, for reads
  size_t foldedBytes_ = 0;
};

}  // namespace weft
