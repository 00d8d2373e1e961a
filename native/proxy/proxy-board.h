#pragma once
#include <memory>

#include "../memory/mapping.h"
#include "proxy-request.h"
#include "../gpu/queue-memory.h"

namespace weft {

/// The memory of a Board. For CPU producers everything is host memory; for a GPU's, the queue is as QueueMemory says, the
/// words that the proxy writes are page-locked and mapped, and those that producers write lie in GPU memory. Producers
/// must have ended, or been let go and the GPU's memory be freed after them: freeing GPU memory waits for kernels.
class ProxyBoard {
 public:
  /// `context` is null for CPU producers. Throws a Fault.
  ProxyBoard(uint32_t producers, uint32_t shift, const GpuContextPtr& context);

  /// As this process addresses it.
  const queue::Board& host() const { return host_; }
  const queue::Board& producers() const { return producers_; }

 private:
  void mapForGpu(const GpuContextPtr& context);

  QueueMemory queue_;
  std::unique_ptr<Mapping> words_;
  std::unique_ptr<HostRegistration> registration_;  // ends before the mapping
  std::unique_ptr<DeviceMemory> pushed_;
  queue::Board host_{}, producers_{};
};

}  // namespace weft
