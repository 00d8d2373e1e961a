#include "marking-executor.h"

#include "../clock.h"
#include "../fault.h"
#include "../sizes.h"

namespace weft {

namespace {

constexpr uint32_t kNone = ~0u;

}  // namespace

MarkingExecutor::MarkingExecutor(Port& port, Plan plan, Region* source, Region* target, RemoteBuffers remotes,
                                 std::unique_ptr<CopyLanes> copies, const std::vector<uint32_t>& steps)
    : Executor(port, std::move(plan), source, target, std::move(remotes), std::move(copies)),
      placeOf_(plan_.steps.size(), kNone), perIteration_(steps.size()) {
  toldOfSteps_ = true;
  timed_ = true;
  for (uint32_t place = 0; place < steps.size(); place++) {
    bool free = steps[place] < placeOf_.size() && placeOf_[steps[place]] == kNone;
    if (!free) throw Fault("plan", EINVAL, "a mark names no step of the plan, or one that another names");
    placeOf_[steps[place]] = place;
  }
}

// Here, so that no iteration pays for the memory.
void MarkingExecutor::prepare() {
  heard_ = 0;
  size_t times = product(options_.iterations, perIteration_);
  checkSamples("plan", times);
  marks_.assign(times, 0);
}

// Every step is done once in every iteration.
void MarkingExecutor::stepDone(uint32_t index) {
  uint32_t place = placeOf_[index];
  if (place == kNone) return;
  size_t first = heard_ - heard_ % perIteration_;
  heard_++;
  marks_[first + place] = static_cast<double>(monotonicNanoseconds() - iterationStart_);
}

}  // namespace weft
