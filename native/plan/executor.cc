#include "executor.h"

#include <algorithm>

#include "../clock.h"
#include "../fault.h"

namespace weft {

namespace {

constexpr uint64_t kBystanderPatience = 10;

}  // namespace

Executor::Executor(Port& port, Plan plan, Region* source, Region* target, std::vector<const RemoteRegion*> remotes,
                   std::unique_ptr<CopyLanes> copies)
    : port_(port),
      plan_(std::move(plan)),
      regions_{source, target},
      remotes_(std::move(remotes)),
      copies_(std::move(copies)) {
  size_t steps = plan_.steps.size();
  lanes_.resize(plan_.channels * 2);
  counters_.resize(steps);
  fresh_.resize(steps);
  std::vector<uint32_t> posts(lanes_.size());
  for (uint32_t i = 0; i < steps; i++) {
    PlanStep& step = plan_.steps[i];
    step.chunks = step.bytes == 0 ? 1 : static_cast<uint32_t>((step.bytes - 1) / plan_.chunkBytes + 1);
    fresh_[i] = {step.after, 0, 0};
    if (step.after == 0) roots_.push_back(i);
    if (step.kind == PlanStep::Wait) counters_[i] = &port_.counter(step.peer, step.slot);
    else if (step.kind == PlanStep::Copy) step.chunks = 1;
    else posts[&laneOf(step) - lanes_.data()]++;
  }
  for (size_t i = 0; i < lanes_.size(); i++) {
    lanes_[i].ready.resize(posts[i] + 1);
    for (uint32_t k = 0; posts[i] > 0 && k < plan_.window; k++) {
      operations_.emplace_back();
      operations_.back().completer = this;
      lanes_[i].free.push_back(&operations_.back());
    }
  }
}

std::vector<double> Executor::run(const RunOptions& options) {
  options_ = options;
  try {
    return measure();
  } catch (...) {
    over_ = true;
    // Whoever hears of the failure may free what copies still read and write.
    if (copies_) copies_->settle();
    throw;
  }
}

std::vector<double> Executor::measure() {
  std::vector<double> samples;
  samples.reserve(options_.iterations / options_.batch);
  drop_ = options_.sabotage.kind == Sabotage::Drop;
  barrier(options_.timeoutNanoseconds);
  expectWithin(options_.timeoutNanoseconds);
  iterateAll(samples);
  if (options_.sabotage.kind == Sabotage::Flip) {
    flipByte(copies_ ? copies_->target() : regions_[1]->memory, options_.sabotage.offset);
  }
  // A rank with nothing to do comes here at once and hears nothing until the others are done. They have deadlines of
  // their own, and whoever fails or dies is told to all: this one is for messages that got lost.
  barrier(kBystanderPatience * options_.timeoutNanoseconds + kBystanderPatience * options_.expectedNanoseconds);
  return samples;
}

void Executor::iterateAll(std::vector<double>& samples) {
  for (uint64_t done = 0; done < options_.iterations; done += options_.batch) {
    uint64_t start = monotonicNanoseconds();
    for (uint64_t i = 0; i < options_.batch; i++) iterate();
    samples.push_back(static_cast<double>(monotonicNanoseconds() - start));
  }
}

void Executor::iterate() {
  if (aborted_.load(std::memory_order_relaxed)) give(ECANCELED, "the run was ended");
  for (size_t i = 0; i < fresh_.size(); i++) state_[i] = fresh_[i];
  left_ = static_cast<uint32_t>(plan_.steps.size());
  for (uint32_t index : roots_) activate(index);
  for (Lane& lane : lanes_) {
    if (lane.count > 0) pump(lane);
  }
  if (!failure_.empty()) give(failureCode_, failure_);
  if (!copies_) {
    while (left_ > 0) poll();
    return;
  }
  while (left_ > 0) {
    pollCopies();
    if (left_ > 0) poll();
  }
}

void Executor::activate(uint32_t index) {
  const PlanStep& step = plan_.steps[index];
  if (step.kind >= PlanStep::Wait) return activateOther(index);
  laneOf(step).push(index);
}

void Executor::activateOther(uint32_t index) {
  const PlanStep& step = plan_.steps[index];
  if (step.kind == PlanStep::Copy) {
    return copies_->push(index, step.buffer, step.offset, step.remoteOffset, step.bytes);
  }
  Counter& counter = *counters_[index];
  counter.step = index;
  counter.wanted = counter.consumed + step.chunks;
  if (counter.arrived >= counter.wanted) finish(index);
}

void Executor::finish(uint32_t index) {
  const PlanStep& step = plan_.steps[index];
  if (step.kind == PlanStep::Wait) {
    Counter& counter = *counters_[index];
    counter.consumed = counter.wanted;
    counter.wanted = Counter::kNobody;
  }
  left_--;
  stepDone(index);
  for (uint32_t next : step.dependents) {
    if (--state_[next].after > 0) continue;
    activate(next);
    if (plan_.steps[next].kind < PlanStep::Wait) pump(laneOf(plan_.steps[next]));
  }
}

// Posts a chunk of each ready step in turn, so that no peer waits for another's whole transfer.
void Executor::pump(Lane& lane) {
  while (lane.count > 0 && lane.inFlight < plan_.window) {
    uint32_t index = lane.pop();
    if (++state_[index].posted < plan_.steps[index].chunks) lane.push(index);
    Operation& operation = *lane.free.back();
    lane.free.pop_back();
    lane.inFlight++;
    outstanding_++;
    postChunk(index, operation);
  }
}

void Executor::postChunk(uint32_t index, Operation& operation) {
  const PlanStep& step = plan_.steps[index];
  size_t skip = static_cast<size_t>(state_[index].posted - 1) * plan_.chunkBytes;
  Region* region = regions_[step.buffer];
  operation.id = index;
  operation.kind = static_cast<OperationKind>(step.kind);
  operation.endpoint = step.channel;
  operation.peer = step.peer;
  operation.region = region;
  operation.buffer = region->memory.base + step.offset + skip;
  operation.bytes = std::min(plan_.chunkBytes, step.bytes - skip);
  operation.descriptor = region->descriptor[step.channel];
  operation.data = immediate(false, plan_.rank, step.slot);
  if (step.kind == PlanStep::Write) {
    const RemoteRegion& remote = *remotes_[step.peer];
    operation.hasData = announced_;
    operation.delivered = plan_.delivered;
    operation.remoteAddress = remote.address[step.channel] + step.remoteOffset + skip;
    operation.remoteKey = remote.key[step.channel];
  }
  if (drop_ && step.kind != PlanStep::Recv) operation.bytes = 0;
  try {
    if (port_.post(operation)) completed(operation, operation.bytes);
  } catch (const Fault& fault) {
    // Not from here: the caller may be in the middle of a completion queue.
    failed(operation, fault.code, fault.text);
  }
}

void Executor::completed(Operation& operation, uint64_t bytes) {
  if (over_) return;
  if (operation.kind == OperationKind::Recv && bytes != operation.bytes) {
    std::string text = std::to_string(bytes) + " bytes came instead of " + std::to_string(operation.bytes);
    return failed(operation, FI_EIO, text);
  }
  outstanding_--;
  if (operation.id == kBarrierStep) return;
  uint32_t index = operation.id;
  Lane& lane = laneOf(plan_.steps[index]);
  lane.inFlight--;
  lane.free.push_back(&operation);
  if (++state_[index].done == plan_.steps[index].chunks) finish(index);
  pump(lane);
}

void Executor::failed(Operation& operation, int code, const std::string& text) {
  outstanding_--;
  if (!failure_.empty()) return;
  failureCode_ = code;
  failure_ = "transfer with rank " + std::to_string(operation.peer) + " on channel " +
             std::to_string(operation.endpoint) + ": " + text;
}

}  // namespace weft
