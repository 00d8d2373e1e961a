#include "gpu-pattern.h"

#include <algorithm>

#include "../fault.h"
#include "../memory/pattern-word.h"

namespace weft {

namespace {

constexpr size_t kTileBytesPerThread = 64;  // kernels/pattern.cu: kUnroll vectors

}  // namespace

GpuPattern::GpuPattern(GpuContextPtr context)
    : context_(context), stream_(context), multiprocessors_(context->attribute(cu::kMultiprocessors)) {
  CudaCurrent current(*context_);
  WEFT_CU(cuMemAlloc, &findings_, 2 * sizeof(uint64_t));
}

GpuPattern::~GpuPattern() {
  try {
    CudaCurrent current(*context_);
    Cuda::get().cuMemFree(findings_);
    if (folded_) Cuda::get().cuMemFree(folded_);
  } catch (const Fault&) {
    // The context is lost, and what it held with it.
  }
}

unsigned GpuPattern::gridFor(size_t bytes, GpuShape shape) const {
  size_t tile = kTileBytesPerThread * shape.threads;
  size_t tiles = std::max<size_t>((bytes + tile - 1) / tile, 1);
  return static_cast<unsigned>(std::min<size_t>(tiles, size_t{multiprocessors_} * shape.blocks));
}

void GpuPattern::enqueueFill(CuPointer data, size_t bytes, uint64_t seed, uint64_t position, GpuShape shape) {
  auto function = kernel(*context_, "pattern", "weft_fill");
  launch(function, gridFor(bytes, shape), shape.threads, stream_, data, uint64_t{bytes}, spreadSeed(seed), position);
}

void GpuPattern::enqueueVerify(CuPointer data, size_t bytes, uint64_t seed, uint64_t position, GpuShape shape) {
  auto function = kernel(*context_, "pattern", "weft_verify");
  launch(function, gridFor(bytes, shape), shape.threads, stream_, data, uint64_t{bytes}, spreadSeed(seed), position,
         findings_);
}

void GpuPattern::enqueueRead(CuPointer data, size_t bytes, GpuShape shape) {
  unsigned grid = gridFor(bytes, shape);
  size_t needed = sizeof(uint64_t) * grid * shape.threads;
  if (needed > foldedBytes_) {
    CudaCurrent current(*context_);
    stream_.synchronize();
    if (folded_) WEFT_CU(cuMemFree, folded_);
    folded_ = 0;
    foldedBytes_ = 0;
    WEFT_CU(cuMemAlloc, &folded_, needed);
    foldedBytes_ = needed;
  }
  launch(kernel(*context_, "pattern", "weft_read"), grid, shape.threads, stream_, data, uint64_t{bytes}, folded_);
}

void GpuPattern::enqueueSet(CuPointer data, size_t bytes, uint8_t value) {
  CudaCurrent current(*context_);
  WEFT_CU(cuMemsetD8Async, data, value, bytes, stream_.handle());
}

void GpuPattern::forget() {
  CudaCurrent current(*context_);
  WEFT_CU(cuMemsetD8Async, findings_, 0, sizeof(uint64_t), stream_.handle());
  WEFT_CU(cuMemsetD8Async, findings_ + sizeof(uint64_t), 0xff, sizeof(uint64_t), stream_.handle());
}

void GpuPattern::fill(CuPointer data, size_t bytes, uint64_t seed, uint64_t position) {
  std::lock_guard lock(gate_);
  enqueueFill(data, bytes, seed, position);
  stream_.synchronize();
}

Mismatch GpuPattern::verify(CuPointer data, size_t bytes, uint64_t seed, uint64_t position) {
  std::lock_guard lock(gate_);
  CudaCurrent current(*context_);
  forget();
  enqueueVerify(data, bytes, seed, position);
  uint64_t findings[2] = {};
  WEFT_CU(cuMemcpyDtoHAsync, findings, findings_, sizeof(findings), stream_.handle());
  stream_.synchronize();
  Mismatch result;
  result.wrong = findings[0];
  if (result.wrong == 0) return result;
  result.offset = findings[1];
  result.expected = patternByte(spreadSeed(seed), position + result.offset);
  WEFT_CU(cuMemcpyDtoHAsync, &result.found, data + result.offset, 1, stream_.handle());
  stream_.synchronize();
  return result;
}

void GpuPattern::set(CuPointer data, size_t bytes, uint8_t value) {
  std::lock_guard lock(gate_);
  if (bytes > 0) enqueueSet(data, bytes, value);
  stream_.synchronize();
}

void GpuPattern::copyToHost(void* to, CuPointer from, size_t bytes) {
  std::lock_guard lock(gate_);
  CudaCurrent current(*context_);
  if (bytes > 0) WEFT_CU(cuMemcpyDtoHAsync, to, from, bytes, stream_.handle());
  stream_.synchronize();
}

void GpuPattern::copyToDevice(CuPointer to, const void* from, size_t bytes) {
  std::lock_guard lock(gate_);
  CudaCurrent current(*context_);
  if (bytes > 0) WEFT_CU(cuMemcpyHtoDAsync, to, from, bytes, stream_.handle());
  stream_.synchronize();
}

}  // namespace weft
