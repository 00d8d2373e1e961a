// What the executor does once per run, such as barriers, and beside its transfers.
#include "executor.h"

#include <algorithm>
#include <bit>

#include "../clock.h"
#include "../fabric/driving.h"
#include "../fault.h"

namespace weft {

namespace {

constexpr uint64_t kBystanderPatience = 10;
constexpr uint32_t kBarrierSlot = 0xFFFF;

}  // namespace

uint64_t chunksOf(const Plan& plan, const PlanStep& step) {
  auto chunks = [&](size_t bytes) -> uint64_t { return bytes == 0 ? 1 : (bytes - 1) / plan.chunkBytes + 1; };
  uint64_t sum = step.parts == 0 ? chunks(step.bytes) : 0;
  for (uint32_t i = 0; i < step.parts; i++) sum += chunks(plan.parts[step.firstPart + i].bytes);
  return sum;
}

Executor::Executor(Port& port, Plan plan, Region* source, Region* target, RemoteBuffers remotes,
                   std::unique_ptr<CopyLanes> copies)
    : port_(port),
      tracks_(plan.steps.size()),
      lanes_(plan.channels * 2),
      plan_(std::move(plan)),
      copies_(std::move(copies)),
      regions_{source, target},
      remotes_(std::move(remotes)) {
  timed_ = plan_.hasTimes();
  // A staged plan has acknowledgements of its own.
  acknowledged_ = port_.acknowledgements() && plan_.delivered && !plan_.has(PlanStep::Copy);
  const bool elsewhere = copies_ && copies_->adds();
  if (plan_.has(PlanStep::Sum) && !elsewhere) sums_ = std::make_unique<SumQueue>(plan_.sums, plan_.addends, source->memory.base, target->memory.base);
  if (!plan_.parts.empty()) cursors_.resize(plan_.steps.size());
  std::vector<uint32_t> posts(lanes_.size()), peers(lanes_.size());
  for (uint32_t i = 0; i < tracks_.size(); i++) {
    const PlanStep& step = plan_.steps[i];
    Track& track = tracks_[i];
    track.after = step.after;
    if (step.after == 0) roots_.push_back(i);
    if (step.kind == PlanStep::Copy || step.kind == PlanStep::Join || step.kind == PlanStep::Sum) continue;
    if (port_.acknowledgements() && step.slot > Acknowledgements::kMostSlot) {
      throw Fault("plan", EINVAL, "too many transfers to one peer for a provider that acknowledges them");
    }
    track.done = track.chunks = static_cast<uint32_t>(chunksOf(plan_, step));
    if (step.kind == PlanStep::Wait) {
      track.counter = &port_.counter(step.peer, step.slot);
    } else {
      size_t lane = step.channel * 2 + (step.kind == PlanStep::Recv);
      track.lane = &lanes_[lane];
      if (posts[lane]++ == 0) peers[lane] = step.peer;
      lanes_[lane].onePeer &= step.peer == peers[lane];
    }
  }
  for (size_t i = 0; i < lanes_.size(); i++) {
    Lane& lane = lanes_[i];
    if (i % 2 == 0) lane.endpoint = &port_.endpoint(static_cast<uint32_t>(i / 2));
    lane.ready.resize(std::bit_ceil(posts[i]));
    lane.mask = lane.ready.size() - 1;
    for (; posts[i] > 0 && lane.free < plan_.window; lane.free++) {
      Operation& operation = operations_.emplace_back();
      operation.completer = this;
      operation.id = kBarrierStep;  // none of the plan's
      lane.operations.push_back(&operation);
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
  started_ = monotonicNanoseconds();
  silences_.clear();
  silent_ = false;
  samples.reserve(options_.iterations / options_.batch);
  drop_ = options_.sabotage.kind == Sabotage::Drop;
  if (acknowledged_) awaitAcknowledgements();
  prepare();
  barrier(options_.timeoutNanoseconds);
  expectWithin(options_.timeoutNanoseconds);
  iterateAll(samples);
  if (options_.sabotage.kind == Sabotage::Flip) {
    flipByte(copies_ ? copies_->target() : regions_[1]->memory, options_.sabotage.offset);
  }
  // A rank with nothing to do comes here at once and hears nothing until the others are done. They have deadlines of
  // their own, and whoever fails or dies is told to all: this one is for messages that got lost.
  barrier(kBystanderPatience * options_.timeoutNanoseconds + kBystanderPatience * options_.expectedNanoseconds);
  if (acknowledged_) leaveCounters();
  return samples;
}

// Nothing of this run has arrived yet. Acknowledgements count on their own, whatever waits are active: a source that is
// an iteration ahead must not wait for the rest of the target's.
void Executor::awaitAcknowledgements() {
  if (announced_) acknowledgements_.resize(tracks_.size());
  for (uint32_t i = 0; i < tracks_.size(); i++) {
    const PlanStep& step = plan_.steps[i];
    bool written = step.kind == PlanStep::Write && announced_, waited = step.kind == PlanStep::Wait;
    if (!written && !waited) continue;
    if (written && step.bytes == 0) continue;  // there is nothing to deliver
    uint32_t chunks = waited ? tracks_[i].chunks : 1;
    Counter& counter = waited ? *tracks_[i].counter : port_.counter(step.peer, step.slot | Acknowledgements::kTransferBit);
    if (written) acknowledgements_[i] = &counter;
    counter.step = i;
    counter.wanted = (waited ? counter.consumed : counter.arrived) + chunks;
  }
}

// The acknowledgement is one more thing to come than the chunks' completions.
void Executor::expectAcknowledgement(uint32_t index) {
  if (!acknowledgements_.empty() && acknowledgements_[index]) tracks_[index].done = ~0u;
}

// The next plan's steps have other numbers.
void Executor::leaveCounters() {
  for (const Track& track : tracks_) {
    if (track.counter) track.counter->wanted = Counter::kNobody;
  }
  for (Counter* counter : acknowledgements_) {
    if (counter) counter->wanted = Counter::kNobody;
  }
}

void Executor::expectWithin(uint64_t nanoseconds) {
  patience_ = nanoseconds;
  lookedAt_ = monotonicNanoseconds();
  deadline_ = lookedAt_ + nanoseconds;
  progressed_ = false;
}

// It began when the deadline was set: at the last look that found progress.
void Executor::beginSilence() {
  if (silences_.size() >= Silence::kMost) return;
  Silence silence;
  silence.start = deadline_ - patience_ - started_;
  silence.barrier = left_ == 0;
  if (silence.barrier) silence.open.push_back({awaited_, 0, false});
  for (size_t i = 0; i < tracks_.size() && !silence.barrier && silence.open.size() < Silence::kMostOpen; i++) {
    const PlanStep& step = plan_.steps[i];
    if (tracks_[i].done == tracks_[i].chunks || step.kind > PlanStep::Wait) continue;
    bool wait = step.kind == PlanStep::Wait;
    Silence::Open open{step.peer, wait ? -1 : static_cast<int32_t>(step.channel), step.kind < PlanStep::Recv};
    if (std::find(silence.open.begin(), silence.open.end(), open) == silence.open.end()) silence.open.push_back(open);
  }
  silences_.push_back(std::move(silence));
  silent_ = true;
}

void Executor::endSilence() {
  silent_ = false;
  silences_.back().nanoseconds = monotonicNanoseconds() - started_ - silences_.back().start;
}

// A dissemination barrier: in round k every rank tells the one 2^k ahead and hears from the one 2^k behind.
void Executor::barrier(uint64_t patienceNanoseconds) {
  expectWithin(patienceNanoseconds);
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
    told.remoteAddress = remotes_.targets[peer]->address[0];
    told.remoteKey = remotes_.targets[peer]->key[0];
    telling_ = true;
    port_.post(told);
    awaited_ = (plan_.rank + plan_.world - distance) % plan_.world;
    Counter& heard = port_.counter(awaited_, kBarrierSlot);
    while (heard.arrived <= heard.consumed || telling_) poll();
    heard.consumed++;
  }
}

void Executor::activateAtItsTime(uint32_t index) {
  auto earlier = [this](uint32_t one, uint32_t other) { return plan_.steps[one].offset > plan_.steps[other].offset; };
  later_.insert(std::upper_bound(later_.begin(), later_.end(), index, earlier), index);
}

void Executor::lookAtClock() {
  uint64_t passed = monotonicNanoseconds() - iterationStart_;
  while (!later_.empty() && plan_.steps[later_.back()].offset <= passed) {
    uint32_t index = later_.back();
    later_.pop_back();
    finishAtOnce(index);
    progressed_ = true;
  }
  if (!failure_.empty()) giveFailure();
}

bool Executor::waitsForTime() const {
  if (later_.empty()) return false;
  for (size_t i = 0; i < tracks_.size(); i++) {
    PlanStep::Kind kind = plan_.steps[i].kind;
    bool own = kind != PlanStep::Wait && kind != PlanStep::Recv && kind != PlanStep::Join;
    if (own && tracks_[i].done != tracks_[i].chunks) return false;
  }
  return true;
}

// Copies are started and told here, outside the completion queues.
void Executor::pollCopies() {
  if (copies_->poll(beside_)) finishBeside();
}

// A slice at a time, so that the network goes on.
bool Executor::workOnSums() {
  if (!sums_->work(beside_)) return false;
  finishBeside();
  return true;
}

}  // namespace weft
