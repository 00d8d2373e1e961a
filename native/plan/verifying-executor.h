#pragma once
// Looks at the bytes of a step at the moment at which the step is done: when the count of arrivals, or the completion of
// a receive, says that they are there. Looking after a barrier would miss an immediate that overtakes its data.
#include <vector>

#include "../memory/pattern.h"
#include "executor.h"

namespace weft {

/// What a part of the target buffer must hold: the pattern of `seed`, from `position` on.
struct Expected {
  size_t offset = 0;
  size_t bytes = 0;
  uint64_t seed = 0;
  uint64_t position = 0;
};

/// Only for target buffers in host memory.
class VerifyingExecutor final : public Executor {
 public:
  VerifyingExecutor(Port& port, Plan plan, Region* source, Region* target, RemoteBuffers remotes,
                    std::unique_ptr<CopyLanes> copies, std::vector<Expected> expected);

  /// All that was not there in time in the first iteration; `offset` counts from the start of the target buffer.
  const Mismatch& early() const { return early_; }

 private:
  void stepDone(uint32_t index) override;
  void lookAt(size_t offset, size_t bytes);
  void look(const Expected& expected, size_t from, size_t to);

  std::vector<Expected> expected_;
  std::vector<bool> looked_;  // by step: later iterations find what the first one left
  Mismatch early_;
};

}  // namespace weft
