#pragma once
// Writes into another process's memory: GPU memory through CUDA IPC, by a kernel or a copy engine; or host memory, by
// threads that take the kernel's place. What a sample encloses: `batch` passes over the memory, back to back; on a GPU
// between two events of one stream, on the CPU from the start of the first thread to the end of the last.
#include <atomic>
#include <memory>
#include <vector>

#include "cuda-owners.h"
#include "../memory/shared-memory.h"

namespace weft {

struct IpcJob {
  uint32_t grid = 1, block = 256;
  size_t bytes = 0;
  uint64_t seed = 0;  // pass p writes the pattern of seed + p
  uint64_t batch = 1, samples = 1;
};

/// The other process's memory as the writer has it. One call at a time.
class IpcTarget {
 public:
  virtual ~IpcTarget() = default;
  /// Nanoseconds of each sample. The last pass, whose pattern stays, is that of seed + batch × samples − 1.
  virtual std::vector<double> write(const IpcJob& job, const std::atomic<bool>& aborted) = 0;
  /// The same by the copy engine, from memory of this process that holds the pattern of `seed`.
  virtual std::vector<double> copy(const IpcJob& job, const std::atomic<bool>& aborted) = 0;
};

std::unique_ptr<IpcTarget> openGpuTarget(GpuContextPtr context, const CuIpcHandle& handle, size_t bytes);
std::unique_ptr<IpcTarget> openHostTarget(const std::string& path, size_t bytes);

/// Nanoseconds of the fastest of some memsets of `bytes` by `threads` threads: what host memory can take.
double hostMemsetNanoseconds(SharedMemory& memory, size_t bytes, unsigned threads, const std::atomic<bool>& aborted);

}  // namespace weft
