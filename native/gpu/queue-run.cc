#include "queue-run.h"

#include <algorithm>
#include <array>

#include "../clock.h"
#include "../fault.h"
#include "../sizes.h"

namespace weft {

namespace {

using queue::Element;

constexpr size_t kPopMost = 64;
constexpr unsigned kLooksBetweenChecks = 1024;
constexpr size_t kMostTogether = 256;

/// What the consumer does while nothing comes: spin, then yield; look at the clock and the producers now and then.
class Patience {
 public:
  Patience(const QueueConsumption& work, const std::atomic<bool>& aborted)
      : work_(work), aborted_(aborted), deadline_(monotonicNanoseconds() + work.timeoutNanoseconds) {}

  void progress() {
    endIfAborted();
    if (idle_ >= kLooksBetweenChecks) deadline_ = monotonicNanoseconds() + work_.timeoutNanoseconds;
    idle_ = 0;
  }

  void wait(uint64_t popped, uint64_t total) {
    if (++idle_ >= work_.spinsBeforeYield) sched_yield();
    if (idle_ % kLooksBetweenChecks != 0) return;
    endIfAborted();
    if (work_.alive) work_.alive();
    if (idle_ == kLooksBetweenChecks) deadline_ = monotonicNanoseconds() + work_.timeoutNanoseconds;
    if (monotonicNanoseconds() < deadline_) return;
    throw Fault("queue", ETIMEDOUT,
                "producers stopped pushing after " + std::to_string(popped) + " of " + std::to_string(total) + " elements");
  }

 private:
  /// Also while there is news: producers may be quick enough that there is never a pause.
  void endIfAborted() const {
    if (aborted_.load(std::memory_order_relaxed)) throw Fault("queue", ECANCELED, "the run was aborted");
  }

  const QueueConsumption& work_;
  const std::atomic<bool>& aborted_;
  uint64_t deadline_;
  unsigned idle_ = 0;
};

/// Every producer's next number.
class Ledger {
 public:
  Ledger(const queue::Load& load, uint64_t producers) : load_(load), next_(producers) {}

  void take(const Element& element, QueueTally& tally) {
    uint64_t producer = element.first >> queue::kNumberBits;
    uint64_t number = element.first & (queue::kMostEach - 1);
    if (producer >= next_.size() || element.second != queue::proofOf(load_.seed, element.first)) {
      return blame(tally, "element " + std::to_string(tally.popped) + " was never pushed");
    }
    uint64_t expected = next_[producer];
    next_[producer] = number + 1;
    if (number == expected) return;
    blame(tally, "producer " + std::to_string(producer) + ": element " + std::to_string(number) + " came instead of " +
                     std::to_string(expected));
  }

  void close(QueueTally& tally) {
    for (uint64_t producer = 0; producer < next_.size(); producer++) {
      if (next_[producer] == load_.each) continue;
      blame(tally, "producer " + std::to_string(producer) + " stopped at element " + std::to_string(next_[producer]) + " of " +
                       std::to_string(load_.each));
    }
  }

 private:
  static void blame(QueueTally& tally, std::string text) {
    if (tally.wrong++ == 0) tally.first = std::move(text);
  }

  const queue::Load& load_;
  std::vector<uint64_t> next_;
};

/// Cells in GPU memory are fetched only when those fetched before are used up.
size_t pop(queue::Consumer& consumer, const QueueConsumption& work, Element* elements, size_t most) {
  size_t count = consumer.pop(elements, most);
  if (count > 0 || !work.fetch) return count;
  work.fetch(consumer.popped());
  return consumer.pop(elements, most);
}

}  // namespace

QueueTally consumeLoad(const QueueConsumption& work, const std::atomic<bool>& aborted) {
  uint64_t total = work.producers * work.load.each;
  if (work.batch == 0 || total % work.batch != 0) throw Fault("queue", EINVAL, "the batch must divide all elements");
  checkSamples("queue", total / work.batch);
  queue::Consumer consumer(work.view);
  Ledger ledger(work.load, work.producers);
  Patience patience(work, aborted);
  QueueTally tally;
  tally.samples.reserve(total / work.batch);
  std::array<Element, kPopMost> elements;
  uint64_t start = 0, boundary = work.batch;
  while (tally.popped < total) {
    size_t count = pop(consumer, work, elements.data(), std::min<uint64_t>(kPopMost, boundary - tally.popped));
    if (count == 0) {
      patience.wait(tally.popped, total);
      continue;
    }
    patience.progress();
    for (size_t i = 0; i < count; i++) {
      ledger.take(elements[i], tally);
      tally.popped++;
    }
    if (tally.popped < boundary) continue;
    uint64_t now = monotonicNanoseconds();
    if (start != 0) tally.samples.push_back(static_cast<double>(now - start));
    start = now;
    boundary += work.batch;
  }
  ledger.close(tally);
  // One element too many would lie here.
  if (pop(consumer, work, elements.data(), 1) > 0 && tally.wrong++ == 0) tally.first = "the queue returned more elements than were pushed";
  return tally;
}

bool produceLoad(const queue::View& view, const queue::Load& load, uint64_t producer, size_t together) {
  queue::Producer queue(view);
  std::array<Element, kMostTogether> elements;
  together = std::min(std::max<size_t>(together, 1), kMostTogether);
  for (uint64_t number = 0; number < load.each;) {
    size_t count = std::min<uint64_t>(together, load.each - number);
    for (size_t i = 0; i < count; i++) elements[i] = queue::elementOf(load, producer, number + i);
    if (!queue.pushTogether(elements.data(), count)) return false;
    number += count;
  }
  return true;
}

QueueEchoes answerEchoes(const QueueConsumption& work, uint64_t rounds, uint64_t* answer, const std::atomic<bool>& aborted) {
  queue::Consumer consumer(work.view);
  Patience patience(work, aborted);
  QueueEchoes echoes;
  echoes.oneWay.reserve(rounds);
  for (uint64_t round = 0; round < rounds;) {
    Element element;
    if (pop(consumer, work, &element, 1) == 0) {
      patience.wait(round, rounds);
      continue;
    }
    uint64_t popped = monotonicNanoseconds();
    std::atomic_ref(*answer).store(++round, std::memory_order_release);
    patience.progress();
    if (element.first != round) throw Fault("queue", EIO, "an element came out of order");
    // Both clocks are cut to 48 bits: the difference is signed and far smaller.
    auto difference = static_cast<int64_t>((popped - element.second) << queue::kTagBits) >> queue::kTagBits;
    echoes.oneWay.push_back(static_cast<double>(difference));
  }
  return echoes;
}

std::vector<double> produceEchoes(const queue::View& view, uint64_t rounds, uint64_t* answer) {
  queue::Producer queue(view);
  std::vector<double> roundTrips;
  roundTrips.reserve(rounds);
  for (uint64_t round = 1; round <= rounds; round++) {
    uint64_t start = monotonicNanoseconds();
    if (!queue.push({round, start & queue::kPayloadMask})) break;
    for (unsigned tries = 0; std::atomic_ref(*answer).load(std::memory_order_acquire) < round; tries++) {
      if (std::atomic_ref(view.gate->stopped).load(std::memory_order_acquire)) return roundTrips;
      if (tries >= 200) sched_yield();
    }
    roundTrips.push_back(static_cast<double>(monotonicNanoseconds() - start));
  }
  return roundTrips;
}

std::vector<double> lookAtNothing(const queue::View& view, uint64_t looks, uint64_t samples, const std::atomic<bool>& aborted) {
  checkSamples("queue", samples);
  queue::Consumer consumer(view);
  Element element;
  std::vector<double> times;
  for (uint64_t i = 0; i < samples; i++) {
    if (aborted.load(std::memory_order_relaxed)) throw Fault("queue", ECANCELED, "the run was aborted");
    uint64_t start = monotonicNanoseconds();
    for (uint64_t k = 0; k < looks; k++) {
      if (consumer.pop(&element, 1) != 0) throw Fault("queue", EIO, "an element came out of an empty queue");
    }
    times.push_back(static_cast<double>(monotonicNanoseconds() - start));
  }
  return times;
}

}  // namespace weft
