// What the executor says of transfers that fail and of steps that do not end in time.
#include "../clock.h"
#include "../fault.h"
#include "executor.h"

namespace weft {

namespace {

constexpr uint64_t kLongestGap = 1'000'000'000;  // nanoseconds

// As sizeText in src/measure/units.ts, for whole units.
std::string sizeText(size_t bytes) {
  for (auto [unit, shift] : {std::pair{'G', 30}, {'M', 20}, {'K', 10}}) {
    if (bytes >> shift > 0 && bytes % (size_t{1} << shift) == 0) return std::to_string(bytes >> shift) + unit;
  }
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

}  // namespace

void Executor::cutShort(Operation& operation, uint64_t bytes) {
  failed(operation, FI_EIO, std::to_string(bytes) + " bytes arrived instead of " + std::to_string(operation.bytes));
}

void Executor::failed(Operation& operation, int code, const std::string& text) {
  if (!failure_.empty()) return;
  failureCode_ = code;
  failure_ = (operation.kind == OperationKind::Read ? "read from rank " : "transfer with rank ") +
             std::to_string(operation.peer) + " on " + port_.endpoint(operation.endpoint).label() + ": " + text;
}

void Executor::checkPatience() {
  port_.readEvents();
  if (!port_.faults.empty()) giveFailure();
  if (aborted_.load(std::memory_order_relaxed)) giveUp();
  if (progressed_) return expectWithin(patience_);
  uint64_t now = monotonicNanoseconds();
  // So long a gap between two looks was spent stopped: then the others could not run, either.
  if (now - lookedAt_ > kLongestGap) deadline_ += now - lookedAt_ - kLongestGap;
  lookedAt_ = now;
  bool late = now > deadline_;
  bool silent = options_.silenceNanoseconds > 0 && !silent_ && now > deadline_ - patience_ + options_.silenceNanoseconds;
  if (!late && !silent) return;
  if (waitsForTime()) return expectWithin(patience_);
  if (silent) beginSilence();
  if (late) give(ETIMEDOUT, awaited());
}

std::string Executor::awaited() const {
  return left_ > 0 ? unfinished() : "rank " + std::to_string(awaited_) + " did not reach the barrier over " + port_.endpoint(0).label();
}

void Executor::give(int code, const std::string& text) { throw Fault("plan", code, text); }

void Executor::giveUp() { give(ECANCELED, "the run was aborted"); }

void Executor::giveFailure() {
  if (!failure_.empty()) give(failureCode_, failure_);
  // Some providers do not say which operation failed. What is unfinished on that channel is the best guess.
  const PortFault& fault = port_.faults.front();
  std::string open = left_ > 0 ? unfinished(fault.endpoint) : "";
  give(fault.code, port_.endpoint(fault.endpoint).label() + ": " + fault.text + (open.empty() ? "" : "; " + open));
}

std::string Executor::unfinished(std::optional<uint32_t> channel) const {
  for (size_t i = 0; i < plan_.steps.size(); i++) {
    const PlanStep& step = plan_.steps[i];
    const Track& track = tracks_[i];
    std::string peer = std::to_string(step.peer);
    if (step.kind == PlanStep::Wait) {
      if (track.done == track.chunks || (channel && *channel + 1 != step.channel)) continue;
      uint64_t missing = track.counter->consumed + track.chunks - track.counter->arrived;
      std::string way = step.channel > 0 ? " on " + port_.endpoint(step.channel - 1).label() : "";
      return std::to_string(missing) + " of " + std::to_string(track.chunks) + " chunks from rank " + peer + way + " did not arrive";
    }
    if (track.done == track.chunks || step.kind == PlanStep::Join) continue;
    if (step.kind == PlanStep::Copy) {
      if (channel) continue;
      return "a copy " + std::string(step.buffer == 1 ? "to" : "from") + " the GPU did not complete";
    }
    if (step.kind == PlanStep::Sum) {
      if (channel) continue;
      return "a sum of " + std::to_string(step.parts) + (step.parts == 1 ? " part" : " parts") + " did not complete";
    }
    if (channel && *channel != step.channel) continue;
    if (step.kind == PlanStep::Read) {
      return "the read of " + sizeText(step.bytes) + " from rank " + peer + " on " + port_.endpoint(step.channel).label() +
             " did not complete";
    }
    return std::string(step.kind == PlanStep::Recv ? "no data arrived from rank " : "rank ") + peer +
           (step.kind == PlanStep::Recv ? "" : " did not receive the data sent") + " on " +
           port_.endpoint(step.channel).label();
  }
  return channel ? "" : "some steps did not complete";
}

}  // namespace weft
