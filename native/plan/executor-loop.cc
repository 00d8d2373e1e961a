// What the executor does for every message. It is one translation unit that inlines the port's part (driving.h):
// a message over shared memory takes half a microsecond, of which 10 ns are 2 %.
#include <sched.h>

#include <algorithm>

#include "../clock.h"
#include "../fabric/driving.h"
#include "../fault.h"
#include "executor.h"

namespace weft {

namespace {

constexpr unsigned kPollsBetweenChecks = 64;

}  // namespace

void Executor::iterateAll(std::vector<double>& samples) {
  for (uint64_t done = 0; done < options_.iterations; done += options_.batch) {
    uint64_t start = monotonicNanoseconds();
    for (uint64_t i = 0; i < options_.batch; i++) iterate();
    samples.push_back(static_cast<double>(monotonicNanoseconds() - start));
  }
}

inline bool Executor::look() {
  if (port_.drain(*this) == 0) return false;
  if (!failure_.empty() || !port_.faults.empty()) [[unlikely]] giveFailure();
  if (silent_) [[unlikely]] endSilence();
  quiet_ = 0;
  progressed_ = true;
  return true;
}

void Executor::poll() {
  if (!look()) idle();
}

void Executor::iterate() {
  if (aborted_.load(std::memory_order_relaxed)) giveUp();
  left_ = static_cast<uint32_t>(tracks_.size());
  if (timed_) [[unlikely]] iterationStart_ = monotonicNanoseconds();
  for (uint32_t index : roots_) activate(index);
  for (Lane& lane : lanes_) {
    if (!lane.empty()) pump(lane);
  }
  if (!failure_.empty()) [[unlikely]] giveFailure();
  if (!copies_ && !sums_ && !timed_) {
    while (left_ > 0) poll();
    return;
  }
  while (left_ > 0) {
    if (!later_.empty()) lookAtClock();
    if (copies_) pollCopies();
    bool added = sums_ && workOnSums();
    // A rank with numbers to add has no core to offer.
    if (left_ > 0 && !look() && !added) idle();
  }
}

inline void Executor::finish(uint32_t index) {
  Track& track = tracks_[index];
  if (Counter* counter = track.counter) {
    counter->consumed += track.chunks;
    track.done = track.chunks;
    if (!acknowledged_) counter->wanted = Counter::kNobody;
  }
  left_--;
  if (toldOfSteps_) [[unlikely]] stepDone(index);
  const PlanStep& step = plan_.steps[index];
  if (!step.dependents.empty()) activateDependents(step);
}

void Executor::activate(uint32_t index) {
  Track& track = tracks_[index];
  track.posted = track.done = 0;
  if (!track.lane) return activateOther(index);
  if (acknowledged_) [[unlikely]] expectAcknowledgement(index);
  track.lane->push(index);
}

void Executor::activateOther(uint32_t index) {
  const PlanStep& step = plan_.steps[index];
  if (step.kind == PlanStep::Copy) {
    return copies_->push(index, step.buffer, step.offset, step.remoteOffset, step.bytes);
  }
  if (step.kind == PlanStep::Sum) return sums_ ? sums_->push(index, step.dtype, step.firstPart, step.parts) : copies_->pushSum(index);
  if (step.kind == PlanStep::Join) return step.offset == 0 ? finishAtOnce(index) : activateAtItsTime(index);
  Counter& counter = *tracks_[index].counter;
  uint64_t wanted = counter.consumed + tracks_[index].chunks;
  if (!acknowledged_) {
    counter.step = index;
    counter.wanted = wanted;
  }
  if (counter.arrived >= wanted) finishAtOnce(index);
}

void Executor::finishAtOnce(uint32_t index) {
  atOnce_.push_back(index);
  if (atOnce_.size() > 1) return;  // a caller further up goes on with it
  for (size_t i = 0; i < atOnce_.size(); i++) {
    Track& track = tracks_[atOnce_[i]];
    track.done = track.chunks;
    finish(atOnce_[i]);
  }
  atOnce_.clear();
}

void Executor::activateDependents(const PlanStep& step) {
  for (uint32_t next : step.dependents) {
    Track& track = tracks_[next];
    if (--track.after > 0) continue;
    track.after = plan_.steps[next].after;  // for the next iteration
    activate(next);
    if (track.lane) pump(*track.lane);
  }
}

// Posts a chunk of each ready step in turn, so that no peer waits for another's whole transfer.
void Executor::pump(Lane& lane) {
  while (!lane.empty() && !lane.blocked()) {
    uint32_t index = lane.pop();
    Track& track = tracks_[index];
    if (++track.posted < track.chunks) lane.push(index);
    Operation& operation = *lane.operations[--lane.free];
    bool sent = postChunk(index, track, operation);
    if (lane.endpoint && lane.onePeer) lane.learnRoom();
    if (!sent) continue;
    lane.operations[lane.free++] = &operation;
    if (++track.done == track.chunks) finish(index);
  }
}

// True when the chunk was sent and its operation is free again.
inline bool Executor::postChunk(uint32_t index, const Track& track, Operation& operation) {
  // An operation that last carried this step's only chunk is filled in already.
  if (operation.id != index || track.chunks > 1) aim(index, track, operation);
  try {
    return port_.post(operation);
  } catch (const Fault& fault) {
    // Not from here: the caller may be in the middle of a completion queue.
    failed(operation, fault.code, fault.text);
    return false;
  }
}

inline void Executor::aim(uint32_t index, const Track& track, Operation& operation) {
  const PlanStep& step = plan_.steps[index];
  if (operation.id != index) aimAtStep(index, operation);
  size_t offset, remoteOffset;
  if (step.parts > 0) {
    // Chunks are posted in order: the first of an iteration begins with the first part.
    Cursor& cursor = cursors_[index];
    if (track.posted == 1) cursor = {step.firstPart, 0};
    const PlanPart& part = plan_.parts[cursor.part];
    offset = part.offset + cursor.skip;
    remoteOffset = part.remoteOffset + cursor.skip;
    operation.bytes = std::min(plan_.chunkBytes, part.bytes - cursor.skip);
    cursor.skip += operation.bytes;
    if (cursor.skip == part.bytes) cursor = {cursor.part + 1, 0};
  } else {
    size_t skip = static_cast<size_t>(track.posted - 1) * plan_.chunkBytes;
    offset = step.offset + skip;
    remoteOffset = step.remoteOffset + skip;
    operation.bytes = std::min(plan_.chunkBytes, step.bytes - skip);
  }
  operation.buffer = operation.base + offset;
  operation.remoteAddress = operation.remoteBase + remoteOffset;
  if (drop_ && step.kind != PlanStep::Recv) [[unlikely]] operation.bytes = 0;
}

void Executor::aimAtStep(uint32_t index, Operation& operation) {
  const PlanStep& step = plan_.steps[index];
  Region* region = regions_[step.buffer];
  operation.id = index;
  operation.kind = static_cast<OperationKind>(step.kind);
  operation.endpoint = step.channel;
  operation.peer = step.peer;
  operation.region = region;
  operation.base = region->memory.base;
  operation.descriptor = region->descriptor[step.channel];
  operation.data = immediate(false, plan_.rank, step.slot);
  if (step.kind != PlanStep::Write && step.kind != PlanStep::Read) return;
  operation.hasData = announced_;
  operation.delivered = plan_.delivered && !(announced_ && port_.acknowledgements());
  operation.remoteKey = remoteOf(step).key[step.channel];
  operation.remoteBase = remoteOf(step).address[step.channel];
}

inline void Executor::settled(Operation& operation, uint64_t bytes) {
  if (bytes != operation.bytes) [[unlikely]] return cutShort(operation, bytes);
  uint32_t index = operation.id;
  if (index == kBarrierStep) [[unlikely]] {
    telling_ = false;
    return;
  }
  Track& track = tracks_[index];
  Lane& lane = *track.lane;
  lane.operations[lane.free++] = &operation;
  if (++track.done == track.chunks) finish(index);
  if (!lane.empty()) pump(lane);
}

inline void Executor::reached(uint32_t step) {
  if (acknowledged_) [[unlikely]] return reachedAcknowledged(step);
  finish(step);
}

void Executor::reachedAcknowledged(uint32_t index) {
  Track& track = tracks_[index];
  const PlanStep& step = plan_.steps[index];
  if (track.lane) {
    acknowledgements_[index]->wanted++;
    if (++track.done == track.chunks) finish(index);
    return;
  }
  track.counter->wanted += track.chunks;
  if (step.bytes > 0) {
    uint32_t channel = (plan_.rank + step.peer) % plan_.channels;
    port_.acknowledgements()->tell(channel, step.peer, immediate(false, plan_.rank, step.slot | Acknowledgements::kTransferBit));
  }
  if (track.done < track.chunks) finish(index);
}

void Executor::completed(Operation& operation, uint64_t bytes) {
  if (!over_) settled(operation, bytes);
}

void Executor::finishBeside() {
  for (uint32_t index : beside_) {
    tracks_[index].done = 1;
    finish(index);
  }
  beside_.clear();
  if (silent_) endSilence();
  quiet_ = 0;
  progressed_ = true;
  if (!failure_.empty()) giveFailure();
}

void Executor::idle() {
  quiet_++;
  if (quiet_ >= options_.spinsBeforeYield) sched_yield();
  if (quiet_ % kPollsBetweenChecks == 0) checkPatience();
}

}  // namespace weft
