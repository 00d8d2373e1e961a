#pragma once
#include <functional>
#include <memory>
#include <string>

#include "gpu-pattern.h"
#include "../memory/mapping.h"

namespace weft {

struct DeviceBlock;

/// Enqueues once, which loads kernels and grows what they need, and waits; then `repeats` times back to back between
/// two events of CUDA's. Milliseconds for each, on average; 0 if there are none.
double timeRepeats(const GpuContextPtr& context, const Stream& stream, size_t repeats,
                   const std::function<void()>& enqueue);

enum class GpuWork { set, fill, read, verify, copyToHost, copyToDevice, copyOnDevice };

/// A Fault for a name that is none: "set", "fill", "read", "verify", "copyToHost", "copyToDevice", "copyOnDevice".
GpuWork gpuWorkNamed(const std::string& name);

/// The time of one kind of whole-buffer work, by CUDA's events around `repeats` of it back to back on one stream.
struct GpuTiming {
  GpuWork work;
  CuPointer data;
  size_t bytes;
  size_t repeats;
  GpuShape shape;                 // of fill, read and verify; 0 blocks: as they are used elsewhere
  std::shared_ptr<Mapping> host;  // of copies to and from the host

  /// Milliseconds for each repeat, on average. copyOnDevice copies the first half of the bytes over the second.
  double run(DeviceBlock& block) const;

 private:
  void enqueue(DeviceBlock& block) const;
};

}  // namespace weft
