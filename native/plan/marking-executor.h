#pragma once
// Keeps the times at which some steps were done, each from the start of its iteration.
#include <vector>

#include "executor.h"

namespace weft {

class MarkingExecutor final : public Executor {
 public:
  /// `steps` are indices of the plan's steps, each at most once. Throws a Fault (EINVAL).
  MarkingExecutor(Port& port, Plan plan, Region* source, Region* target, RemoteBuffers remotes,
                  std::unique_ptr<CopyLanes> copies, const std::vector<uint32_t>& steps);

  /// Nanoseconds of the run that ended: for every iteration, those of all steps in their order.
  const std::vector<double>& marks() const { return marks_; }

 private:
  void prepare() override;
  void stepDone(uint32_t index) override;

  std::vector<uint32_t> placeOf_;  // by step
  size_t perIteration_ = 0;
  size_t heard_ = 0;
  std::vector<double> marks_;
};

}  // namespace weft
