// The queue with real threads, for ThreadSanitizer. Prints one line per case; exits with 1 at the first that fails. Built
// and run by threads.test.ts.
#include <thread>

#include "../../native/fault.h"
#include "threads.h"

using namespace weft;

namespace {

QueueConsumption consumption(const queue::View& view, const queue::Load& load, uint64_t producers) {
  QueueConsumption work;
  work.view = view;
  work.load = load;
  work.producers = producers;
  work.batch = load.each * producers;
  work.timeoutNanoseconds = 20'000'000'000;
  work.spinsBeforeYield = 0;
  return work;
}

QueueTally runLoad(uint32_t shift, uint64_t producers, uint64_t each, size_t together, queue::LoadFault fault = {}) {
  Store store(shift);
  queue::Load load{42, each, fault};
  std::vector<std::thread> threads;
  for (uint64_t p = 0; p < producers; p++) {
    threads.emplace_back([&, p] { produceLoad(store.view, load, p, together); });
  }
  std::atomic<bool> aborted{false};
  QueueTally tally = consumeLoad(consumption(store.view, load, producers), aborted);
  for (auto& thread : threads) thread.join();
  return tally;
}

void everyElementOnce(const char* name, uint32_t shift, uint64_t producers, uint64_t each, size_t together) {
  QueueTally tally = runLoad(shift, producers, each, together);
  expect(tally.popped == producers * each && tally.wrong == 0, std::string(name) + ": " + tally.first);
  std::printf("ok %s\n", name);
}

/// More laps than generations have numbers; one thread, so that it takes no time.
void generationsWrap() {
  Store store(1);
  queue::Producer producer(store.view);
  queue::Consumer consumer(store.view);
  queue::Element element;
  for (uint64_t i = 0; i < 140'000; i++) {
    expect(consumer.pop(&element, 1) == 0, "an element came out of an empty queue");
    expect(producer.push({i, i + 1}), "a push was refused");
    expect(consumer.pop(&element, 1) == 1 && element.first == i && element.second == i + 1, "a lap was mistaken");
  }
  std::printf("ok generations wrap\n");
}

void faultsAreFound() {
  using Fault = queue::LoadFault;
  for (auto kind : {Fault::Drop, Fault::Duplicate, Fault::Flip}) {
    QueueTally tally = runLoad(4, 3, 200, 1, {kind, 50});
    expect(tally.wrong > 0 && !tally.first.empty(), "a planted fault went unnoticed");
  }
  std::printf("ok faults are found\n");
}

/// Producers that wait for room are let go when the consumer stops.
void stoppedProducersEnd() {
  Store store(1);
  queue::Load load{1, 1000, {}};
  std::vector<std::thread> threads;
  std::atomic<int> refused{0};
  for (uint64_t p = 0; p < 16; p++) {
    threads.emplace_back([&, p] { refused += !produceLoad(store.view, load, p, 1); });
  }
  queue::Consumer consumer(store.view);
  queue::Element element;
  for (int taken = 0; taken < 10;) taken += static_cast<int>(consumer.pop(&element, 1));
  consumer.stop();
  for (auto& thread : threads) thread.join();
  expect(refused == 16, "producers went on after the consumer stopped");
  std::printf("ok stopped producers end\n");
}

void silenceTimesOut() {
  Store store(4);
  auto work = consumption(store.view, {1, 10, {}}, 1);
  work.timeoutNanoseconds = 1'000'000;
  std::atomic<bool> aborted{false};
  try {
    consumeLoad(work, aborted);
    expect(false, "waited for ever");
  } catch (const Fault& fault) {
    expect(fault.code == ETIMEDOUT, fault.text);
  }
  std::printf("ok silence times out\n");
}

}  // namespace

int main() {
  everyElementOnce("300 producers", 7, 300, 10, 1);
  everyElementOnce("12 producers in warps", 8, 12, 640, 32);
  everyElementOnce("a queue of two, full at all times", 1, 6, 300, 1);
  generationsWrap();
  everyElementOnce("more together than the queue holds", 2, 3, 640, 64);
  faultsAreFound();
  stoppedProducersEnd();
  silenceTimesOut();
  std::printf("done\n");
}
