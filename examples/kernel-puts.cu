// The kernel of kernel-puts.mjs. `npm run kernels` compiles it to the PTX next to it. Outside this checkout:
//   nvcc -ptx -std=c++17 -arch=compute_80 -I node_modules/@weft-fabric/weft/kernels kernel-puts.cu
#include "../kernels/weft-shmem.cuh"

/// Every block fills its piece of the outbox, requests a put to the next rank, and waits until it is delivered.
/// Transfer b is piece b. `quieted[b]` becomes 1 when the peer has it.
extern "C" __global__ void fillAndPut(weft::shmem::Context context, double* outbox, unsigned long long perBlock,
                                      double first, int* quieted) {
  double* piece = outbox + blockIdx.x * perBlock;
  for (unsigned long long i = threadIdx.x; i < perBlock; i += blockDim.x) {
    piece[i] = first + static_cast<double>(blockIdx.x * perBlock + i);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  weft::shmem::Sender sender = weft::shmem::senderOf(context);
  quieted[blockIdx.x] = sender.putNbi(blockIdx.x) && sender.quiet();
}
