// Producers of the proxy on a GPU: one per block. native/proxy/proxy-program.cc is the same for CPU threads.
#include "../native/memory/pattern-word.h"
#include "../native/proxy/proxy-program.h"
#include "weft-shmem.cuh"

namespace {

using weft::ProxyProgram;
using weft::ProxyTransfer;

/// All threads of the block. Offsets are multiples of 64 where a plan splits buffers; heads and tails are written bytewise.
__device__ void fill(uint8_t* data, uint64_t bytes, uint64_t seed, uint64_t position) {
  uint64_t head = (8 - position % 8) % 8;
  if (reinterpret_cast<uintptr_t>(data + head) % 8 != 0 || head > bytes) head = bytes;  // then all of it bytewise
  uint64_t words = (bytes - head) / 8;
  auto* body = reinterpret_cast<uint64_t*>(data + head);
  uint64_t first = (position + head) / 8;
  for (uint64_t i = threadIdx.x; i < words; i += blockDim.x) {
    body[i] = weft::patternWord(weft::patternPhase(seed, first + i));
  }
  uint64_t edge = bytes - words * 8;
  for (uint64_t i = threadIdx.x; i < edge; i += blockDim.x) {
    uint64_t at = i < head ? i : words * 8 + i;
    data[at] = weft::patternByte(seed, position + at);
  }
}

__device__ void prepare(const ProxyProgram& program, const ProxyTransfer& transfer, uint64_t iteration) {
  uint8_t* data = program.source + transfer.offset;
  if (program.fill) {
    fill(data, transfer.bytes, weft::spreadSeed(program.seed), transfer.offset);
    __threadfence_system();
  } else if (threadIdx.x == 0 && transfer.bytes >= weft::kStampBytes) {
    *reinterpret_cast<volatile uint64_t*>(data) = iteration;
  }
}

}  // namespace

extern "C" __global__ void weftProxy(ProxyProgram program) {
  weft::shmem::Sender sender = weft::shmem::senderOf(program.board);
  uint64_t* sample = program.samples + blockIdx.x * (program.iterations / program.batch);
  uint64_t start = 0;
  int serving = 1;  // thread 0 knows; the others hear of it in barriers
  for (uint64_t iteration = 0; iteration < program.iterations; iteration++) {
    uint64_t* seen = program.seen ? program.seen + iteration * program.transferCount : nullptr;
    if (iteration % program.batch == 0) start = weft::queue::device::nanoseconds();
    uint64_t last = 0;
    for (uint64_t transfer = blockIdx.x; transfer < program.transferCount; transfer += program.board.producers) {
      prepare(program, program.transfers[transfer], iteration);
      __syncthreads();
      last = transfer;
      if (threadIdx.x == 0) {
        serving = sender.putNbi(transfer) && (!program.blocking || sender.quiet());
        if (seen && program.blocking) seen[transfer] = weft::queue::device::nanoseconds();
      }
      if (!__syncthreads_and(serving)) return;
    }
    if (threadIdx.x == 0) {
      if (!program.blocking) serving = sender.quiet();
      uint64_t now = weft::queue::device::nanoseconds();
      if (seen && !program.blocking) seen[last] = now;
      if ((iteration + 1) % program.batch == 0) *sample++ = now - start;
    }
    if (!__syncthreads_and(serving)) return;
  }
}
