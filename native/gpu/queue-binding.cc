// The queue as JavaScript measures it: one call per measurement, on a thread of its own.
#include <thread>

#include "../addon.h"
#include "gpu-clock.h"
#include "queue-memory.h"
#include "queue-run.h"
#include "../task.h"

namespace weft {

namespace {

constexpr uint64_t kMostThreads = 4096;
constexpr uint64_t kMostRounds = 100'000;

enum class What { Push, Echo, Empty };

struct QueueJob {
  What what = What::Push;
  GpuContextPtr context;  // null: CPU producers
  QueueMemory::Cells cells = QueueMemory::Cells::Host;
  uint32_t grid = 1, block = 1, shift = 10;
  bool released = false;
  uint64_t rounds = 1;  // of echoes; looks per sample where the queue is empty
  QueueConsumption work;
};

struct QueueOutcome {
  QueueTally tally;
  std::vector<double> oneWay;
  ClockRelation clock;
};

std::string word(const Napi::Object& object, const char* name) {
  auto value = object.Get(name);
  return value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
}

queue::LoadFault readFault(const Napi::Object& job) {
  auto fault = job.Get("fault");
  if (!fault.IsObject()) return {};
  auto wrong = fault.As<Napi::Object>();
  std::string kind = word(wrong, "kind");
  auto at = static_cast<uint32_t>(field(wrong, "at"));
  if (kind == "drop") return {queue::LoadFault::Drop, at};
  if (kind == "duplicate") return {queue::LoadFault::Duplicate, at};
  return {queue::LoadFault::Flip, at};
}

QueueJob readJob(const Napi::Object& from) {
  QueueJob job;
  std::string what = word(from, "what");
  job.what = what == "echo" ? What::Echo : what == "empty" ? What::Empty : What::Push;
  if (from.Get("gpu").IsNumber()) job.context = GpuContext::of(static_cast<int>(field(from, "gpu")));
  if (word(from, "cells") == "device") job.cells = QueueMemory::Cells::Device;
  job.grid = static_cast<uint32_t>(field(from, "grid"));
  job.block = static_cast<uint32_t>(field(from, "block"));
  job.shift = static_cast<uint32_t>(field(from, "shift"));
  job.released = from.Get("released").ToBoolean();
  job.rounds = field(from, "rounds");
  QueueConsumption& work = job.work;
  work.load = {static_cast<uint64_t>(field(from, "seed")), static_cast<uint64_t>(field(from, "each")), readFault(from)};
  work.producers = job.context ? static_cast<uint64_t>(job.grid) * job.block : job.grid;
  work.batch = field(from, "batch");
  work.timeoutNanoseconds = field(from, "timeoutMs") * 1000000u;
  work.spinsBeforeYield = static_cast<unsigned>(field(from, "spinsBeforeYield"));
  bool fits = work.producers > 0 && work.producers < queue::kMostProducers && work.load.each < queue::kMostEach;
  if (!fits || job.block == 0 || job.block > 1024 || job.rounds > kMostRounds * 1000 || (!job.context && job.grid > kMostThreads)) {
    throw Fault("queue", EINVAL, "too many producers or elements");
  }
  return job;
}

/// Stops the queue whatever happens, so that producers end, and then waits for them.
class Producers {
 public:
  explicit Producers(QueueMemory& memory) : memory_(memory) {}
  ~Producers() {
    queue::Consumer(memory_.host()).stop();
    for (auto& thread : threads_) thread.join();
    if (!stream_) return;
    try {
      stream_->synchronize();
    } catch (const Fault&) {
      // The kernel has ended badly, which `alive` or `join` told.
    }
  }
  Producers(const Producers&) = delete;
  Producers& operator=(const Producers&) = delete;

  /// Apart from the constructor: where a thread cannot be made, those before it are stopped and joined.
  void start(const QueueJob& job) {
    if (job.context) startKernel(job);
    else startThreads(job);
  }
  /// Throws when the kernel has failed.
  void alive() const {
    if (stream_) (void)stream_->done();
  }
  void join() {
    for (auto& thread : threads_) thread.join();
    threads_.clear();
    if (stream_) stream_->synchronize();
  }
  std::vector<double> roundTrips;  // of CPU echoes

 private:
  void startKernel(const QueueJob& job) {
    stream_ = std::make_unique<Stream>(job.context);
    const queue::View& view = memory_.producers();
    if (job.what == What::Echo) {
      launch(kernel(*job.context, "queue", "weftQueueEcho"), 1, 1, *stream_, view, memory_.producerWords(),
             memory_.producerWords() + 8, job.rounds);
      return;
    }
    const char* name = job.released ? "weftQueuePushReleased" : "weftQueuePush";
    launch(kernel(*job.context, "queue", name), job.grid, job.block, *stream_, view, job.work.load);
  }

  void startThreads(const QueueJob& job) {
    if (job.what == What::Echo) {
      threads_.emplace_back([this, rounds = job.rounds] {
        roundTrips = produceEchoes(memory_.host(), rounds, memory_.words());
      });
      return;
    }
    for (uint32_t producer = 0; producer < job.grid; producer++) {
      threads_.emplace_back([this, producer, load = job.work.load, together = job.block] {
        produceLoad(memory_.host(), load, producer, together);
      });
    }
  }

  QueueMemory& memory_;
  std::vector<std::thread> threads_;
  std::unique_ptr<Stream> stream_;
};

QueueOutcome measureQueue(QueueJob job, const std::atomic<bool>& aborted) {
  QueueOutcome outcome;
  QueueMemory memory(job.shift, job.context, job.cells);
  job.work.view = memory.host();
  if (memory.copied()) job.work.fetch = [&](uint64_t from) { memory.fetch(from); };
  if (job.what == What::Empty) {
    outcome.tally.samples = lookAtNothing(memory.host(), job.rounds, job.work.batch, aborted);
    return outcome;
  }
  if (job.what == What::Echo && job.rounds > QueueMemory::kWords - 8) throw Fault("queue", EINVAL, "too many rounds");
  if (job.what == What::Echo && job.context) outcome.clock = relateClocks(job.context);
  Producers producers(memory);
  producers.start(job);
  job.work.alive = [&] { producers.alive(); };
  if (job.what == What::Push) {
    outcome.tally = consumeLoad(job.work, aborted);
    producers.join();
    return outcome;
  }
  outcome.oneWay = answerEchoes(job.work, job.rounds, memory.words(), aborted).oneWay;
  producers.join();
  outcome.tally.popped = job.rounds;
  outcome.tally.samples = producers.roundTrips;
  if (!job.context) return outcome;
  for (uint64_t i = 0; i < job.rounds; i++) outcome.tally.samples.push_back(static_cast<double>(memory.words()[8 + i]));
  outcome.clock = between(outcome.clock, relateClocks(job.context));
  return outcome;
}

TaskResult resultOf(QueueOutcome outcome) {
  return [outcome = std::move(outcome)](Napi::Env env) -> Napi::Value {
    auto result = Napi::Object::New(env);
    result.Set("samples", toArray(env, outcome.tally.samples));
    result.Set("oneWay", toArray(env, outcome.oneWay));
    result.Set("popped", static_cast<double>(outcome.tally.popped));
    result.Set("wrong", static_cast<double>(outcome.tally.wrong));
    result.Set("first", outcome.tally.first);
    result.Set("clockOffset", outcome.clock.offset);
    result.Set("clockUncertainty", outcome.clock.uncertainty);
    return result;
  };
}

Napi::Value queueRun(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    QueueJob job = readJob(info[0].As<Napi::Object>());
    return Task::start(info.Env(), [job](const std::atomic<bool>& aborted) { return resultOf(measureQueue(job, aborted)); });
  });
}

}  // namespace

void defineQueue(Napi::Env env, Napi::Object exports) { exports.Set("queueRun", Napi::Function::New<queueRun>(env)); }

}  // namespace weft
