#pragma once
// Interprets a plan. What the clock encloses: an iteration starts before its first post and ends when every step is
// done: every write delivered (or, for `transmit` plans, its buffer reusable), every receive filled, every expected
// arrival counted. Where the provider does not say when a write is delivered, the target acknowledges it as soon as all
// its arrivals are counted, and the write is done when the acknowledgement has come. A sample is the time of `batch` such iterations, back to back, on this rank's monotonic clock.
// Before the first iteration and after the last, all ranks meet in a barrier over the fabric; neither is timed.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../fabric/port.h"
#include "copier.h"
#include "plan.h"
#include "sum.h"

namespace weft {

/// Tests only: what the executor does wrong on purpose.
struct Sabotage {
  enum Kind : uint8_t { None, Flip, Drop };
  Kind kind = None;
  size_t offset = 0;  // Flip: the byte of the target buffer that changes when the last iteration is done
};

/// A stretch of a run in which nothing completed on this rank, and what it waited for.
struct Silence {
  struct Open {
    uint32_t peer = 0;
    int32_t channel = -1;  // -1: any
    bool outgoing = false;
    bool operator==(const Open&) const = default;
  };
  static constexpr size_t kMost = 64;      // of one run
  static constexpr size_t kMostOpen = 64;  // of one silence
  uint64_t start = 0;                      // nanoseconds since the run began
  uint64_t nanoseconds = 0;
  bool barrier = false;  // this rank had done its part
  std::vector<Open> open;
};

struct RunOptions {
  uint64_t iterations = 1;
  uint64_t batch = 1;
  uint64_t timeoutNanoseconds = 0;   // without any progress
  uint64_t expectedNanoseconds = 0;  // of the whole run, where it is known
  uint64_t silenceNanoseconds = 0;   // longer silences are recorded; 0: none is
  unsigned spinsBeforeYield = 0;
  Sabotage sabotage;
};

/// The buffers of all ranks, by rank.
struct RemoteBuffers {
  std::vector<const RemoteRegion*> targets;
  std::vector<const RemoteRegion*> sources;  // empty where the plan has no reads
};

class Executor : public Completer {
 public:
  /// `regions` are this rank's source and target. `copies` are needed where the plan has copy steps, and for sums in
  /// memory other than the host's own buffers.
  Executor(Port& port, Plan plan, Region* source, Region* target, RemoteBuffers remotes, std::unique_ptr<CopyLanes> copies);
  virtual ~Executor() = default;

  /// Runs on the calling thread, which alone touches the port until it returns. Samples are nanoseconds. After a
  /// Fault, operations may still be in flight: the executor must then outlive the port.
  std::vector<double> run(const RunOptions& options);
  /// Of the run that ended, in order.
  const std::vector<Silence>& silences() const { return silences_; }
  /// From any thread: makes `run` throw ECANCELED soon.
  void abort() { aborted_.store(true, std::memory_order_relaxed); }

  // Called by Port::drain.
  void settled(Operation& operation, uint64_t bytes);
  void reached(uint32_t step);

 protected:
  /// Before the first barrier.
  virtual void prepare() {}
  /// Everything between the two barriers. The proxy's steps run when they are asked for.
  virtual void iterateAll(std::vector<double>& samples);
  /// Called for every finished step if `toldOfSteps_` is set.
  virtual void stepDone(uint32_t) {}
  /// What has not happened when the deadline passes.
  virtual std::string awaited() const;

  static constexpr uint32_t kBarrierStep = ~0u;
  static constexpr unsigned kTakenBeforeMore = 64;
  struct alignas(64) Lane {  // chunks of one channel in one direction
    std::vector<uint32_t> ready;  // a ring of post steps that have chunks left to post; its size is a power of 2
    size_t head = 0, tail = 0, mask = 0;
    std::vector<Operation*> operations;  // one per place in the window; the first `free` are not in flight
    size_t free = 0;
    const Endpoint* endpoint = nullptr;  // null for receives
    bool onePeer = true;                 // all its steps have the same
    size_t room = ~size_t{0};            // how many posts that peer is thought to take at a time
    unsigned taken = 0;                  // since it refused one, or more was tried

    bool empty() const { return head == tail; }
    void push(uint32_t index) { ready[tail++ & mask] = index; }
    uint32_t pop() { return ready[head++ & mask]; }
    /// The window is full, or more would only be refused and something of this lane is under way that will call it up
    /// again.
    bool blocked() const {
      if (free == 0) return true;
      if (!endpoint || free == operations.size()) return false;
      return endpoint->sends.inFlight >= room || endpoint->backlog.full();
    }
    /// After a post to the one peer. What it takes may change, so more is tried now and then.
    void learnRoom() {
      if (!endpoint->backlog.empty()) {
        room = std::max<size_t>(1, endpoint->sends.inFlight);
        taken = 0;
      } else if (++taken == kTakenBeforeMore) {
        room = std::min(room * 2, operations.size());
        taken = 0;
      }
    }
  };
  struct Track {  // of one step
    uint32_t after = 0;                         // steps that must finish first
    uint32_t posted = 0, done = 1, chunks = 1;  // `done` equals `chunks` while the step is not active
    Lane* lane = nullptr;        // of posts
    Counter* counter = nullptr;  // of waits
  };

  void iterate();
  std::vector<double> measure();
  void barrier(uint64_t patienceNanoseconds);
  void activate(uint32_t index);
  void activateOther(uint32_t index);
  void finish(uint32_t index);
  void activateDependents(const PlanStep& step);
  void pump(Lane& lane);
  bool postChunk(uint32_t index, const Track& track, Operation& operation);
  /// At the next chunk of a step.
  void aim(uint32_t index, const Track& track, Operation& operation);
  /// What all chunks of a step have in common.
  void aimAtStep(uint32_t index, Operation& operation);
  const RemoteRegion& remoteOf(const PlanStep& step) const {
    return *(step.kind == PlanStep::Write ? remotes_.targets : remotes_.sources)[step.peer];
  }
  /// Finishes a step at the moment it is activated. Long rows of such steps do not nest.
  void finishAtOnce(uint32_t index);
  void idle();
  /// What has to be looked at now and then while nothing happens, such as the deadline.
  [[gnu::cold]] void checkPatience();
  /// Takes what the queues have; false when that is nothing.
  bool look();
  void poll();
  void pollCopies();
  bool workOnSums();
  [[gnu::cold]] void activateAtItsTime(uint32_t index);
  [[gnu::cold]] void lookAtClock();
  /// Whether a join's time is to come and this rank has nothing under way until then but what peers may wait with, too.
  [[gnu::cold]] bool waitsForTime() const;
  void finishBeside();
  void expectWithin(uint64_t nanoseconds);
  [[gnu::cold]] void beginSilence();
  [[gnu::cold]] void endSilence();
  /// Before the first barrier, where targets acknowledge what they were written.
  void awaitAcknowledgements();
  void leaveCounters();
  [[gnu::cold]] void expectAcknowledgement(uint32_t index);
  [[gnu::cold]] void reachedAcknowledged(uint32_t index);
  void completed(Operation& operation, uint64_t bytes) override;
  [[gnu::cold]] void cutShort(Operation& operation, uint64_t bytes);
  [[gnu::cold]] void failed(Operation& operation, int code, const std::string& text) override;
  [[noreturn, gnu::cold]] void give(int code, const std::string& text);
  [[noreturn, gnu::cold]] void giveUp();
  [[noreturn, gnu::cold]] void giveFailure();
  /// The first step that is not done; with `channel`, the first post on it, or nothing.
  std::string unfinished(std::optional<uint32_t> channel = {}) const;

  // Fields that every message uses come first.
  Port& port_;
  std::vector<Track> tracks_;  // by step
  uint32_t left_ = 0;          // steps of this iteration that are not done
  unsigned quiet_ = 0;         // looks in a row that saw nothing
  bool progressed_ = false;    // since the deadline was set
  bool silent_ = false;        // the last of `silences_` has not ended
  bool toldOfSteps_ = false;
  bool timed_ = false;      // steps wait for their times, or somebody wants to know when they were done
  bool telling_ = false;    // the barrier's message is under way
  bool announced_ = true;   // writes carry an immediate, which their targets' waits count
  bool acknowledged_ = false;  // the provider does not say when writes are delivered: targets do, transfer by transfer
  bool drop_ = false;
  bool over_ = false;       // `run` threw: late completions of what is still in flight are ignored
  int failureCode_ = 0;
  std::atomic<bool> aborted_{false};
  std::vector<Lane> lanes_;
  std::vector<uint32_t> roots_;  // steps that wait for no other
  std::vector<Counter*> acknowledgements_;  // of writes, by step; empty where they are not acknowledged
  Plan plan_;
  std::unique_ptr<CopyLanes> copies_;  // null where the plan has none
  std::unique_ptr<SumQueue> sums_;     // null where the plan has none, or `copies_` has them
  RunOptions options_;
  uint64_t patience_ = 0;  // how long nothing may happen
  uint64_t deadline_ = 0, lookedAt_ = 0;
  uint64_t iterationStart_ = 0;  // set where `timed_` is
  Region* regions_[2];
  RemoteBuffers remotes_;
  struct Cursor {
    uint32_t part = 0;
    size_t skip = 0;
  };
  std::vector<Cursor> cursors_;   // by step: its next chunk; empty where the plan has no parts
  std::vector<uint32_t> beside_;  // copies and sums to finish, while they are looked at
  std::vector<uint32_t> atOnce_;  // steps that finishAtOnce works on
  std::vector<uint32_t> later_;   // joins whose time has not come, the earliest last
  std::deque<Operation> operations_;
  Operation told_;        // of the barrier
  uint32_t awaited_ = 0;  // the rank the barrier waits to hear from
  uint64_t started_ = 0;
  std::vector<Silence> silences_;
  std::string failure_;
};

}  // namespace weft
