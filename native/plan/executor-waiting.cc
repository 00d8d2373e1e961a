// How the executor looks for what happened, meets the others, and gives up.
#include <sched.h>

#include "../clock.h"
#include "executor.h"
#include "../fault.h"

namespace weft {

namespace {

constexpr unsigned kPollsBetweenChecks = 64;
constexpr uint32_t kBarrierSlot = 0xFFFF;

}  // namespace

void Executor::expectWithin(uint64_t nanoseconds) {
  patience_ = nanoseconds;
  deadline_ = monotonicNanoseconds() + nanoseconds;
  progressed_ = false;
}

// A dissemination barrier: in round k every rank tells the one 2^k ahead and hears from the one 2^k behind.
void Executor::barrier(uint64_t patienceNanoseconds) {
  expectWithin(patienceNanoseconds);
  state_.resize(fresh_.size());
  Operation& told = told_;
  told.completer = this;
  told.id = kBarrierStep;
  told.region = regions_[0];
  told.buffer = regions_[0]->memory.base;
  told.descriptor = regions_[0]->descriptor[0];
  told.hasData = true;
  told.data = immediate(false, plan_.rank, kBarrierSlot);
  for (uint32_t distance = 1; distance < plan_.world; distance *= 2) {
    uint32_t peer = (plan_.rank + distance) % plan_.world;
    told.peer = peer;
    told.remoteAddress = remotes_[peer]->address[0];
    told.remoteKey = remotes_[peer]->key[0];
    outstanding_++;
    port_.post(told);
    awaited_ = (plan_.rank + plan_.world - distance) % plan_.world;
    Counter& heard = port_.counter(awaited_, kBarrierSlot);
    while (heard.arrived <= heard.consumed || outstanding_ > 0) poll();
    heard.consumed++;
  }
}

void Executor::poll() {
  if (port_.drain() == 0) return idle();
  while (!port_.reached.empty()) {
    uint32_t index = port_.reached.back();
    port_.reached.pop_back();
    finish(index);
  }
  if (!failure_.empty()) give(failureCode_, failure_);
  if (!port_.faults.empty()) give(port_.faults.front().code, port_.faults.front().text);
  quiet_ = 0;
  progressed_ = true;
}

// Copies are started and told here, outside the completion queues.
void Executor::pollCopies() {
  if (!copies_->poll(copied_)) return;
  for (uint32_t index : copied_) {
    state_[index].done = 1;
    finish(index);
  }
  copied_.clear();
  quiet_ = 0;
  progressed_ = true;
  if (!failure_.empty()) give(failureCode_, failure_);
}

void Executor::idle() {
  quiet_++;
  if (quiet_ >= options_.spinsBeforeYield) sched_yield();
  if (quiet_ % kPollsBetweenChecks != 0) return;
  if (aborted_.load(std::memory_order_relaxed)) give(ECANCELED, "the run was ended");
  if (progressed_) return expectWithin(patience_);
  if (monotonicNanoseconds() > deadline_) give(ETIMEDOUT, awaited());
}

std::string Executor::awaited() const {
  return left_ > 0 ? unfinished() : "rank " + std::to_string(awaited_) + " did not come to the barrier";
}

void Executor::give(int code, const std::string& text) { throw Fault("plan", code, text); }

std::string Executor::unfinished() const {
  for (size_t i = 0; i < plan_.steps.size(); i++) {
    const PlanStep& step = plan_.steps[i];
    std::string peer = std::to_string(step.peer);
    if (step.kind == PlanStep::Wait) {
      if (counters_[i]->wanted == Counter::kNobody) continue;
      uint64_t missing = counters_[i]->wanted - counters_[i]->arrived;
      return std::to_string(missing) + " of " + std::to_string(step.chunks) + " chunks from rank " + peer + " did not arrive";
    }
    if (state_[i].done >= step.chunks) continue;
    if (step.kind == PlanStep::Copy && state_[i].after > 0) continue;  // what it comes after is not done either
    if (step.kind == PlanStep::Copy) return "a copy " + std::string(step.buffer == 1 ? "to" : "from") + " the GPU did not end";
    return std::string(step.kind == PlanStep::Recv ? "nothing came from rank " : "rank ") + peer +
           (step.kind == PlanStep::Recv ? "" : " did not take what was sent") + " on channel " +
           std::to_string(step.channel);
  }
  return "steps were left over";
}

}  // namespace weft
