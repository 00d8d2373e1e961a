#include "verifying-executor.h"

#include <algorithm>

namespace weft {

VerifyingExecutor::VerifyingExecutor(Port& port, Plan plan, Region* source, Region* target,
                                     std::vector<const RemoteRegion*> remotes, std::unique_ptr<CopyLanes> copies,
                                     std::vector<Expected> expected)
    : Executor(port, std::move(plan), source, target, std::move(remotes), std::move(copies)),
      expected_(std::move(expected)),
      looked_(plan_.steps.size()) {
  toldOfSteps_ = true;
}

void VerifyingExecutor::stepDone(uint32_t index) {
  const PlanStep& step = plan_.steps[index];
  bool arrives = step.kind == PlanStep::Wait || (step.kind == PlanStep::Recv && step.buffer == 1);
  if (!arrives || looked_[index]) return;
  looked_[index] = true;
  size_t end = step.offset + step.bytes;
  for (const Expected& one : expected_) {
    size_t from = std::max(step.offset, one.offset), to = std::min(end, one.offset + one.bytes);
    if (from < to) look(one, from, to);
  }
}

void VerifyingExecutor::look(const Expected& expected, size_t from, size_t to) {
  const uint8_t* data = regions_[1]->memory.base + from;
  Mismatch found = verifyPattern(data, to - from, expected.seed, expected.position + (from - expected.offset));
  if (found.wrong == 0) return;
  if (early_.wrong == 0) early_ = {0, from + found.offset, found.expected, found.found};
  early_.wrong += found.wrong;
}

}  // namespace weft
