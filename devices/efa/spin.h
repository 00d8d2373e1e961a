// A lock for a few instructions. Threads may outnumber cores, so a waiter gives its core away soon.
#pragma once
#include <sched.h>

#include <atomic>

namespace efa {

class Spin {
 public:
  void lock() {
    for (unsigned turns = 0; held_.exchange(true, std::memory_order_acquire); turns++) {
      while (held_.load(std::memory_order_relaxed)) {
        if (++turns > 64) sched_yield();
      }
    }
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

}  // namespace efa
