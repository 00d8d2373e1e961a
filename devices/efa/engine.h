// The device itself. Whoever polls an empty completion queue moves its data; one thread per open device does so while
// nobody polls, and sleeps when there is nothing to do.
#pragma once
#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "clock.h"
#include "inside.h"

namespace efa {

class Context;
class Link;
class QueuePair;

/// Something with a file descriptor that the thread waits for.
class Pollable {
 public:
  virtual ~Pollable() = default;
  virtual void on_ready(uint32_t events) = 0;
};

class Engine {
 public:
  /// The engine's lock, and the mark of a thread that has it.
  class Held {
   public:
    explicit Held(Engine& engine);

   private:
    Inside inside_;
    std::unique_lock<std::mutex> lock_;
  };

  explicit Engine(Context& context);
  ~Engine();

  /// Queue pairs, their links and everything below them belong to whoever holds this lock: the thread during a turn,
  /// or a caller that makes or destroys something.
  [[nodiscard]] Held lock() { return Held(*this); }

  /// With the lock held. The thread starts with the first queue pair. Returns an errno.
  int add(QueuePair* qp);
  void remove(QueuePair* qp);
  void adopt(std::unique_ptr<Link> link);

  bool watch(int fd, uint32_t events, Pollable* who);
  void change(int fd, uint32_t events, Pollable* who);

  /// From any thread: work was posted.
  void wake();
  /// From a thread that found nothing to poll: one turn, unless another has the device. Threads that poll keep the
  /// cores busy, so a device that waited for a core of its own would be slow where cores are few.
  void assist();

  Context& context;
  Random random;
  uint64_t now = 0;              // when this turn began
  uint32_t segments_sent = 0;    // for faults that hit every n-th
  std::vector<uint8_t> staging;  // where links read into; used within one call

 private:
  int start();
  void run();
  void rouse();
  void stand_by();
  void sleep(int timeout_ms);
  void turn(int ready);
  void serve();
  int wait_time();
  void arm(uint64_t due);

  std::mutex mutex_;
  std::atomic<uint32_t> waiting_{0};
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  std::atomic<uint64_t> assisted_at_{0};
  std::atomic<bool> sleeping_{false};
  std::atomic<bool> posted_{false};
  int epoll_ = -1;
  int wake_ = -1;
  int timer_ = -1;
  bool more_ = false;      // a link stopped at its share of the turn
  std::atomic<bool> silent_{false};  // the fault, as of this turn
  std::array<epoll_event, 64> events_;
  uint32_t removals_ = 0;
  // As of the thread's last look, to notice what happened before it sleeps.
  uint32_t removals_before_ = 0;
  uint64_t assisted_before_ = 0;
  std::vector<QueuePair*> queue_pairs_;
  std::vector<std::unique_ptr<Link>> links_;
};

}  // namespace efa
