#pragma once
// What a rank does in one iteration, as the executor has it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sum.h"

namespace weft {

/// One step, as src/plan/encode.ts writes it.
struct PlanStep {
  enum Kind : uint8_t { Write, Send, Recv, Read, Wait, Copy, Join, Sum };  // posts first, as OperationKind has them
  Kind kind = Write;
  uint32_t channel = 0;
  uint32_t peer = 0;  // or the source of a wait
  uint32_t buffer = 0;  // 0 source, 1 target, 2 sourceDevice, 3 targetDevice; that from which a copy is made, or into which a sum is
  size_t offset = 0;  // or the nanoseconds of the iteration before which a join is not done
  size_t bytes = 0;
  size_t remoteOffset = 0;  // or where a copy goes to
  uint32_t slot = 0;
  uint32_t after = 0;  // how many steps come before
  uint32_t firstPart = 0, parts = 0;  // in the plan's `parts`, or a sum's in its `sums`; no parts: one stretch
  SumDtype dtype = SumDtype::Float32;  // of a sum
  std::vector<uint32_t> dependents;
};

/// One of several stretches of a transfer, or of what a wait waits for.
struct PlanPart {
  size_t offset = 0, remoteOffset = 0, bytes = 0;
};

struct Plan {
  uint32_t rank = 0, world = 0, channels = 0, window = 0;
  bool delivered = true;
  size_t chunkBytes = 0;
  std::vector<PlanStep> steps;
  std::vector<PlanPart> parts;
  std::vector<SumPart> sums;
  std::vector<Addend> addends;

  bool has(PlanStep::Kind kind) const {
    return std::any_of(steps.begin(), steps.end(), [kind](const PlanStep& step) { return step.kind == kind; });
  }
  bool hasTimes() const {
    return std::any_of(steps.begin(), steps.end(), [](const PlanStep& step) { return step.kind == PlanStep::Join && step.offset > 0; });
  }
};

/// Chunks of a step; both sides of a transfer derive the same.
uint64_t chunksOf(const Plan& plan, const PlanStep& step);

}  // namespace weft
