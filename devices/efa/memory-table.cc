#include "memory-table.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "inside.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace efa {
namespace {

/// Hardware pins pages and refuses addresses without any; msync with MS_ASYNC does nothing but look.
bool is_mapped(void* address, size_t length) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t from = reinterpret_cast<uintptr_t>(address) & ~(page - 1);
  const uintptr_t to = reinterpret_cast<uintptr_t>(address) + length;
  return to <= from || msync(reinterpret_cast<void*>(from), to - from, MS_ASYNC) == 0;
}

bool populate_for_writing(void* address) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  void* from = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(address) & ~(page - 1));
  return madvise(from, page, MADV_POPULATE_WRITE) == 0;
}

/// By its first page, where the kernel can tell (from 5.14 on).
bool is_writable(void* address) {
  static char probe;
  static const bool can_tell = populate_for_writing(&probe);
  return !can_tell || populate_for_writing(address);
}

}  // namespace

ibv_mr* MemoryTable::add(ibv_pd* pd, void* address, size_t length, uint64_t iova, int access) {
  const bool writes = (access & (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)) != 0;
  if (!is_mapped(address, length) || (writes && length > 0 && !is_writable(address))) {
    errno = EFAULT;
    return nullptr;
  }
  Inside inside;
  std::unique_lock lock(lock_);
  uint32_t index;
  if (!free_.empty()) {
    index = free_.front();
    free_.pop_front();
  } else if (slots_.size() < (1u << kSlotBits)) {
    index = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    errno = ENOMEM;
    return nullptr;
  }
  Slot& slot = slots_[index];
  const uint32_t key = (++slot.uses << kSlotBits) | index;
  slot.region = std::make_unique<Region>(Region{{pd->context, pd, address, length, index, key, key}, iova, access});
  return &slot.region->mr;
}

int MemoryTable::remove(ibv_mr* mr) {
  Inside inside;
  std::unique_lock lock(lock_);
  const uint32_t index = mr->handle;
  if (index >= slots_.size() || slots_[index].region == nullptr || &slots_[index].region->mr != mr) return EINVAL;
  slots_[index].region.reset();
  free_.push_back(index);
  return 0;
}

uint8_t* MemoryTable::find(uint32_t key, uint64_t address, uint64_t length, int access) const {
  const uint32_t index = key & ((1u << kSlotBits) - 1);
  if (index >= slots_.size()) return nullptr;
  const Region* region = slots_[index].region.get();
  if (region == nullptr || region->mr.lkey != key || (region->access & access) != access) return nullptr;
  const uint64_t offset = address - region->iova;
  if (address < region->iova || offset > region->mr.length || length > region->mr.length - offset) return nullptr;
  return static_cast<uint8_t*>(region->mr.addr) + offset;
}

}  // namespace efa
