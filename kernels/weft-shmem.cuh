#pragma once
// Puts from a kernel. The kernel asks, a proxy thread on the CPU posts: a put names a transfer of those that
// `serveTransfers` was given, so kernels carry neither addresses nor keys. See docs/gpu-initiated.md; a whole program is
// examples/kernel-puts.mjs with examples/kernel-puts.cu.
//
//   __global__ void exchange(weft::shmem::Context context, float* mine) {
//     weft::shmem::Sender sender = weft::shmem::senderOf(context);  // one per block
//     mine[threadIdx.x] = …;
//     __syncthreads();
//     if (threadIdx.x == 0) {
//       sender.putNbi(transfer);  // what the block wrote before its barrier is what is sent
//       sender.putNbi(another);
//       sender.quiet();           // the peers have it
//     }
//   }
//
// A transfer must not be asked for again before it is delivered. There is no order among transfers: where one must follow
// another, put a quiet between them (that is all a fence could be on a fabric that promises no order).
#include "../native/proxy/proxy-request.h"

namespace weft::shmem {

using Sender = queue::Sender;

/// Given to a kernel by value: the bytes that `serveTransfers(…).context` has. One producer per block, so a grid must not
/// have more blocks than the service has producers, and must be one-dimensional.
using Context = queue::Board;

__device__ inline Sender senderOf(const Context& context) { return Sender(context, blockIdx.x); }

}  // namespace weft::shmem
