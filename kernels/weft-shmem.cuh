#pragma once
// Puts from a kernel. The kernel asks, a proxy thread on the CPU posts: a put names a transfer of the plan that the proxy
// serves, so kernels carry neither addresses nor keys. See docs/gpu-initiated.md.
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
#include "../native/proxy-request.h"

namespace weft::shmem {

using Sender = queue::Sender;

/// Given to a kernel by value.
struct Context {
  queue::View queue;
  queue::Delivered* delivered;  // one word per block
};

__device__ inline Sender senderOf(const Context& context) {
  return Sender(context.queue, context.delivered, blockIdx.x);
}

}  // namespace weft::shmem
