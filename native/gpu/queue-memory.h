#pragma once
#include <memory>

#include "cuda-owners.h"
#include "../memory/mapping.h"
#include "queue.h"

namespace weft {

/// The memory of one queue, and a page of words that both sides of a measurement reach. For CPU producers everything is
/// host memory; for a GPU's, cells and gate are page-locked and mapped, and tickets lie in GPU memory.
class QueueMemory {
 public:
  enum class Cells { Host, Device };

  /// `context` is null for CPU producers. Throws a Fault.
  QueueMemory(uint32_t shift, GpuContextPtr context, Cells cells);

  /// As the consumer sees it. Cells in GPU memory are seen through a copy: call `fetch` first.
  const queue::View& host() const { return host_; }
  /// As the producers see it.
  const queue::View& producers() const { return producers_; }
  /// Words for the measurement itself, zeroed: as this process and as the producers address them.
  static constexpr size_t kWords = 4096;
  uint64_t* words() const { return words_; }
  uint64_t* producerWords() const { return producerWords_; }

  bool copied() const { return copied_; }
  /// Where cells are in GPU memory: copies those that `from` may be the first of. Waits for the copy.
  void fetch(uint64_t from);

 private:
  void mapForGpu(const GpuContextPtr& context, Cells cells);

  std::unique_ptr<Mapping> mapping_;
  std::unique_ptr<HostRegistration> registration_;  // ends before the mapping
  std::unique_ptr<DeviceMemory> device_;
  std::unique_ptr<Stream> stream_;
  queue::View host_{}, producers_{};
  uint64_t* words_ = nullptr;
  uint64_t* producerWords_ = nullptr;
  bool copied_ = false;
};

}  // namespace weft
