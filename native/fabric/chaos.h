#pragma once
#include <rdma/fabric.h>
#include <rdma/fi_eq.h>

#include <cstdint>
#include <random>
#include <vector>

namespace weft {

/// Tests only: holds completions back and lets them out in random order, as a network without ordering may. Arrivals
/// of writes come with FI_WRITE and without a context, as EFA of libfabric 1.17 delivers emulated ones.
class Chaos {
 public:
  struct Held {
    uint32_t endpoint;
    fi_cq_data_entry entry;
  };

  Chaos(uint64_t seed, double holdChance) : random_(seed), holdChance_(holdChance) {}

  /// `taking`: arrivals name the receive that they took.
  [[gnu::cold]] void take(uint32_t endpoint, const fi_cq_data_entry* entry, const fi_cq_data_entry* end, bool taking) {
    for (; entry < end; entry++) {
      held_.push_back({endpoint, *entry});
      if (taking || !(entry->flags & FI_REMOTE_WRITE)) continue;
      held_.back().entry.flags |= FI_WRITE;
      held_.back().entry.op_context = nullptr;
    }
  }

  /// The next completion to let through, or false when all that is held stays held for now.
  bool release(Held& out) {
    if (held_.empty() || chance_(random_) < holdChance_) return false;
    size_t pick = random_() % held_.size();
    out = held_[pick];
    held_[pick] = held_.back();
    held_.pop_back();
    return true;
  }

 private:
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> chance_{0, 1};
  double holdChance_;
  std::vector<Held> held_;
};

}  // namespace weft
