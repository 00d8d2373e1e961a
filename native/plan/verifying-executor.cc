#include "verifying-executor.h"

#include <algorithm>

namespace weft {

VerifyingExecutor::VerifyingExecutor(Port& port, Plan plan, Region* source, Region* target,
                                     RemoteBuffers remotes, std::unique_ptr<CopyLanes> copies,
                                     std::vector<Expected> expected)
    : Executor(port, std::move(plan), source, target, std::move(remotes), std::move(copies)),
      expected_(std::move(expected)),
      looked_(plan_.steps.size()) {
  toldOfSteps_ = true;
  std::sort(expected_.begin(), expected_.end(), [](const Expected& a, const Expected& b) { return a.offset < b.offset; });
}

void VerifyingExecutor::stepDone(uint32_t index) {
  const PlanStep& step = plan_.steps[index];
  bool fills = step.kind == PlanStep::Recv || step.kind == PlanStep::Read;
  bool arrives = step.kind == PlanStep::Wait || (fills && step.buffer == 1);
  if (!arrives || looked_[index]) return;
  looked_[index] = true;
  if (step.parts == 0) return lookAt(step.offset, step.bytes);
  for (uint32_t i = 0; i < step.parts; i++) {
    const PlanPart& part = plan_.parts[step.firstPart + i];
    lookAt(part.offset, part.bytes);
  }
}

void VerifyingExecutor::lookAt(size_t offset, size_t bytes) {
  // Sorted and apart: the first that ends behind the offset, and those that follow it.
  auto behind = [](size_t at, const Expected& one) { return at < one.offset + one.bytes; };
  auto one = std::upper_bound(expected_.begin(), expected_.end(), offset, behind);
  for (; one != expected_.end() && one->offset < offset + bytes; one++) {
    look(*one, std::max(offset, one->offset), std::min(offset + bytes, one->offset + one->bytes));
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
