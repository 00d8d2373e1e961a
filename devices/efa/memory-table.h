// Registered memory of one open device, by key.
#pragma once
#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <shared_mutex>
#include <vector>

namespace efa {

/// lkey and rkey are the same number, as on the hardware. A key is not used again soon: its upper bits count the uses
/// of its slot.
class MemoryTable {
 public:
  /// Sets errno and returns null when the memory is not mapped in this process, or read-only but to be written.
  ibv_mr* add(ibv_pd* pd, void* address, size_t length, uint64_t iova, int access);
  /// Returns when no transfer touches the memory any more.
  int remove(ibv_mr* mr);

  /// Keeps all registrations while held.
  std::shared_lock<std::shared_mutex> hold() { return std::shared_lock(lock_); }
  /// The memory at `address` under `key`, null unless all of it is registered with `access`. Only while held.
  uint8_t* find(uint32_t key, uint64_t address, uint64_t length, int access) const;

 private:
  static constexpr uint32_t kSlotBits = 20;
  struct Region {
    ibv_mr mr;
    uint64_t iova;
    int access;
  };
  struct Slot {
    std::unique_ptr<Region> region;
    uint32_t uses = 0;
  };
  std::shared_mutex lock_;
  std::vector<Slot> slots_;
  std::deque<uint32_t> free_;
};

}  // namespace efa
