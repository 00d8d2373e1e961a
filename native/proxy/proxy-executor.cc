#include "proxy-executor.h"

#include <sched.h>

#include <algorithm>

#include "../clock.h"
#include "../fault.h"
#include "../sizes.h"

namespace weft {

namespace {

constexpr unsigned kLooksBetweenChecks = 4096;
constexpr uint64_t kMostTraced = 1u << 20;
constexpr uint32_t kNone = ~0u;

std::vector<ProxyTransfer> transfersOf(const Plan& plan, const ProxyJob& job) {
  std::vector<ProxyTransfer> transfers;
  for (const auto& steps : job.steps) {
    if (steps.empty()) throw Fault("proxy", EINVAL, "a transfer has no steps");
    uint64_t start = ~0ull, end = 0;
    for (uint32_t index : steps) {
      if (index >= plan.steps.size()) throw Fault("proxy", EINVAL, "a transfer names a step that the plan does not have");
      const PlanStep& step = plan.steps[index];
      start = std::min<uint64_t>(start, step.offset);
      end = std::max<uint64_t>(end, step.offset + step.bytes);
    }
    transfers.push_back({start, end - start});
  }
  return transfers;
}

/// Lets producers go however serving ends; they must not outlive the memory they share with the proxy.
struct Ending {
  Proxy& proxy;
  ~Ending() { proxy.end(); }
};

}  // namespace

ProxyExecutor::ProxyExecutor(Port& port, Plan plan, Region* source, Region* target, RemoteBuffers remotes,
                             ProxyJob job)
    : Executor(port, std::move(plan), source, target, std::move(remotes), nullptr), job_(std::move(job)),
      transferOf_(plan_.steps.size(), kNone), stepsLeft_(job_.steps.size()) {
  toldOfSteps_ = true;
  for (uint32_t transfer = 0; transfer < job_.steps.size(); transfer++) {
    for (uint32_t index : job_.steps[transfer]) {
      bool free = index < plan_.steps.size() && transferOf_[index] == kNone;
      if (!free) throw Fault("proxy", EINVAL, "a step can belong to only one transfer");
      transferOf_[index] = transfer;
    }
  }
  for (uint32_t index = 0; index < plan_.steps.size(); index++) {
    const PlanStep& step = plan_.steps[index];
    bool asked = step.kind == PlanStep::Write && step.after == 0 && transferOf_[index] != kNone && step.buffer == 0;
    if (!asked || step.parts > 0) {
      throw Fault("proxy", EINVAL, "a proxied plan may contain only writes of one stretch that producers request");
    }
  }
}

void ProxyExecutor::iterateAll(std::vector<double>& samples) {
  total_ = product(options_.iterations, job_.steps.size());
  if (job_.trace && total_ > kMostTraced) throw Fault("proxy", EINVAL, "too many requests to trace");
  const Span& memory = regions_[0]->memory;
  ProxySource source{memory.base, memory.bytes, memory.context != nullptr};
  ProxyProducers producers(job_, transfersOf(plan_, job_), source, options_.iterations, options_.batch);
  Proxy proxy(producers.board(), static_cast<uint32_t>(job_.steps.size()));
  if (job_.trace) proxy.trace(total_);
  proxy_ = &proxy;
  left_ = 0;
  {
    Ending ending{proxy};
    producers.start(options_.spinsBeforeYield);
    serve(producers, total_);
    producers.join();
  }
  for (double sample : producers.samples()) samples.push_back(sample);
  if (job_.trace) keepTrace(producers);
  proxy_ = nullptr;
}

void ProxyExecutor::serve(ProxyProducers& producers, uint64_t total) {
  unsigned looks = 0;
  while (proxy_->deliveredCount() < total) {
    if (proxy_->take(*this) > 0) {
      if (!failure_.empty()) giveFailure();
      quiet_ = 0;
      progressed_ = true;
    }
    if (++looks % kLooksBetweenChecks == 0) {
      producers.check();
      if (aborted_.load(std::memory_order_relaxed)) giveUp();
    }
    if (!unposted_.empty()) notePosted();
    poll();
    // With as many ranks as cores, the one that was woken waits for this thread's.
    if (proxy_->woke()) sched_yield();
  }
}

void ProxyExecutor::begin(uint32_t transfer) {
  stepsLeft_[transfer] = static_cast<uint32_t>(job_.steps[transfer].size());
  left_ += stepsLeft_[transfer];
  if (job_.trace) unposted_.push_back(transfer);
  for (uint32_t index : job_.steps[transfer]) {
    activate(index);
  }
  for (uint32_t index : job_.steps[transfer]) pump(*tracks_[index].lane);
  if (job_.trace) notePosted();
}

void ProxyExecutor::stepDone(uint32_t index) {
  uint32_t transfer = transferOf_[index];
  if (--stepsLeft_[transfer] > 0) return;
  if (job_.trace) notePosted();
  proxy_->delivered(transfer);
}

void ProxyExecutor::notePosted() {
  uint64_t now = monotonicNanoseconds();
  std::erase_if(unposted_, [&](uint32_t transfer) {
    if (tracks_[job_.steps[transfer].front()].posted == 0) return false;
    proxy_->timesOf(transfer)->posted = now;
    return true;
  });
}

void ProxyExecutor::keepTrace(const ProxyProducers& producers) {
  clock_ = producers.clock();
  auto offset = static_cast<int64_t>(clock_.offset);
  std::vector<uint64_t> iterationOf(job_.steps.size());
  // Times of the producers are cut to 48 bits and may be another clock's; near a time of ours they are whole again.
  auto ours = [&](uint64_t theirs, uint64_t near) {
    auto late = static_cast<int64_t>((near - (theirs - static_cast<uint64_t>(offset))) << queue::kTagBits) >> queue::kTagBits;
    return static_cast<double>(static_cast<int64_t>(near) - late);
  };
  for (const RequestTimes& times : proxy_->times()) {
    uint64_t seen = producers.seen(iterationOf[times.transfer]++, times.transfer);
    trace_.insert(trace_.end(), {ours(times.pushed, times.popped), static_cast<double>(times.popped),
                                 static_cast<double>(times.posted), static_cast<double>(times.delivered),
                                 seen == 0 ? 0 : ours(seen, times.delivered)});
  }
}

std::string ProxyExecutor::awaited() const {
  if (!proxy_ || left_ > 0) return Executor::awaited();
  return "producers requested " + std::to_string(proxy_->takenCount()) + " of " + std::to_string(total_) + " transfers";
}

}  // namespace weft
