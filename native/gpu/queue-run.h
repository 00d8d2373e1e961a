#pragma once
// Measures a queue. What the clocks enclose: a throughput sample is the time in which the consumer takes and checks
// `batch` elements; it starts when the elements before them have been taken. An echo's one-way time runs from just before
// the push on the producer's clock to just after the pop on the consumer's; its round trip is on the producer's clock
// alone and ends when the producer sees the consumer's answer. An empty look is one `pop` that finds nothing.
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "queue-load.h"

namespace weft {

struct QueueConsumption {
  queue::View view;
  queue::Load load;
  uint64_t producers = 1;
  uint64_t batch = 1;  // elements per sample; divides all that is pushed
  uint64_t timeoutNanoseconds = 0;  // without any element
  unsigned spinsBeforeYield = 0;
  /// Where cells must be fetched before they can be looked at: called with the position of the first. May be empty.
  std::function<void(uint64_t)> fetch;
  /// Called now and then while nothing comes: throws a Fault when the producers have failed.
  std::function<void()> alive;
};

struct QueueTally {
  std::vector<double> samples;  // nanoseconds per batch; the first batch is the warm-up and has none
  uint64_t popped = 0;
  uint64_t wrong = 0;
  std::string first;  // what was wrong first
};

/// Takes every element of a load, each exactly once and in each producer's order, and says what was not so. Ends with a
/// Fault when nothing comes for too long (ETIMEDOUT) or `aborted` (ECANCELED); the caller then stops the queue.
QueueTally consumeLoad(const QueueConsumption& work, const std::atomic<bool>& aborted);

/// One CPU producer's part. False when the queue was stopped.
bool produceLoad(const queue::View& view, const queue::Load& load, uint64_t producer, size_t together);

struct QueueEchoes {
  std::vector<double> oneWay;  // by the consumer's clock less the producer's, as they are
};

/// Answers `rounds` single elements in `answer` and notes when each was popped.
QueueEchoes answerEchoes(const QueueConsumption& work, uint64_t rounds, uint64_t* answer, const std::atomic<bool>& aborted);
/// The CPU producer of echoes; round trips in nanoseconds.
std::vector<double> produceEchoes(const queue::View& view, uint64_t rounds, uint64_t* answer);

/// Nanoseconds of `looks` looks at an empty queue, `samples` times.
std::vector<double> lookAtNothing(const queue::View& view, uint64_t looks, uint64_t samples, const std::atomic<bool>& aborted);

}  // namespace weft
