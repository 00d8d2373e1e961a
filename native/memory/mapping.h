#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace weft {

class GpuContext;
class HostRegistration;

/// Anonymous host memory, backed by transparent huge pages where large enough; owned.
class Mapping {
 public:
  /// Throws a Fault ("mmap"). No page is there until `prepare`.
  explicit Mapping(size_t bytes);
  /// Prepared.
  Mapping(size_t bytes, bool locked);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  /// Touches every page, so that no first-touch cost is ever timed, and locks them if asked to. That takes seconds for
  /// tens of GiB: any thread may do it, while others read how many bytes are `prepared`. Throws a Fault ("mlock").
  void prepare(bool locked, std::atomic<size_t>& prepared, const std::atomic<bool>& aborted);

  uint8_t* data() const { return data_; }
  size_t bytes() const { return bytes_; }

  /// Registers the pages with CUDA, so that copies to and from a GPU run at full rate and kernels can reach them.
  /// Once is enough for all GPUs of the process; a second call does nothing. Ends with the mapping.
  void registerWithGpu(const std::shared_ptr<const GpuContext>& context);
  /// Null until then.
  const HostRegistration* gpuRegistration() const { return registration_.get(); }

 private:
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
  size_t mapped_ = 0;
  std::unique_ptr<HostRegistration> registration_;
};

}  // namespace weft
