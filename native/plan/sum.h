#pragma once
// Sums of numbers in host memory, beside the transfers of a plan.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "../memory/floats.h"

namespace weft {

struct Addend {
  uint32_t buffer = 0;  // 0 source, 1 target
  float weight = 1;
  size_t offset = 0;
};

/// into[i] = Σ weight × addend[i], in float32 (int32: in int32, without weights), in this order, rounded once.
struct SumPart {
  size_t into = 0;  // of the target buffer; identical to an addend, or apart from all of them
  size_t bytes = 0;
  uint32_t firstAddend = 0, addends = 0;
};

/// The sums of a plan: queued when they become ready, done a slice at a time.
class SumQueue {
 public:
  /// The vectors must outlive the queue. Both buffers are in host memory.
  SumQueue(const std::vector<SumPart>& parts, const std::vector<Addend>& addends, uint8_t* source, uint8_t* target)
      : parts_(parts), addends_(addends), buffers_{source, target} {}

  void push(uint32_t step, SumDtype dtype, uint32_t firstPart, uint32_t parts) {
    ready_.push_back({step, dtype, firstPart, firstPart + parts, 0});
  }
  /// Reads about kSlice bytes of what is ready. Appends the steps that are done; false when there was nothing to do.
  bool work(std::vector<uint32_t>& done);

 private:
  static constexpr size_t kSlice = 256 * 1024;
  struct Job {
    uint32_t step;
    SumDtype dtype;
    uint32_t part, end;
    size_t skip;  // bytes of the part that are done
  };

  void add(SumDtype dtype, const SumPart& part, size_t skip, size_t bytes);
  template <typename Dtype>
  void addAs(const SumPart& part, size_t skip, size_t bytes);

  const std::vector<SumPart>& parts_;
  const std::vector<Addend>& addends_;
  uint8_t* buffers_[2];
  std::deque<Job> ready_;
};

}  // namespace weft
