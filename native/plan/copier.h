#pragma once
// Copies between device buffers and the host memory that stages them, beside the transfers of a plan.
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "../gpu/span.h"
#include "../gpu/token-layout.h"

namespace weft {

enum CopyWay : uint8_t { FromDevice, ToDevice };

/// Starts copies and knows when they have ended; one thread. Copies of one way end in the order of their start.
class Copier {
 public:
  static constexpr size_t kInFlight = 8;  // per way: more add nothing, and each costs the driver some memory

  virtual ~Copier() = default;
  /// At most kInFlight of a way that `ended` has not told yet. A Fault when the device refuses.
  virtual void start(CopyWay way, uint8_t* to, const uint8_t* from, size_t bytes) = 0;
  /// The same for a list that `make` was given; `to` and `from` are the starts of the way's buffers.
  virtual void startList(CopyWay way, uint8_t* to, const uint8_t* from, size_t list) = 0;
  /// Whether the oldest copy of this way, which there must be, has ended. Never waits; a Fault when it ended badly.
  virtual bool ended(CopyWay way) = 0;
  /// Waits for all that was started. Never throws: a device that was lost has nothing to wait for.
  virtual void settle() noexcept = 0;

  using Lists = std::vector<std::vector<CopyPart>>;
  /// For device buffers on this GPU, or, without one, in host memory, which tests use in a GPU's stead. `host` is what
  /// stages source and target; where there are lists, CUDA must know it.
  static std::unique_ptr<Copier> make(const GpuContextPtr& context, const std::array<Span, 2>& host, Lists lists);
};

/// Tests only: changes one byte, wherever it lies.
void flipByte(const Span& span, size_t offset);

/// The copies of a plan: queued when they become ready, started and told from `poll` alone, so that nothing is
/// thrown into the middle of a completion queue.
class CopyLanes {
 public:
  /// The parts of copies that have some, by step; offsets are of the buffers.
  using Parts = std::map<uint32_t, std::vector<CopyPart>>;
  /// Source and target, in the host's and in the device's memory. Device buffers are on one GPU.
  CopyLanes(std::array<Span, 2> host, std::array<Span, 2> device, const Parts& parts);
  ~CopyLanes() { copier_->settle(); }

  /// Buffers as plans number them: 2 is copied to 0, 1 to 3.
  void push(uint32_t step, uint32_t fromBuffer, size_t from, size_t to, size_t bytes);
  /// Starts what may start. Appends the steps that have ended; true when there were any.
  bool poll(std::vector<uint32_t>& ended);
  /// Forgets what was not started and waits for the rest; for a plan that failed.
  void settle() noexcept;
  const Span& target() const { return device_[1]; }

 private:
  struct Job {
    uint32_t step;
    uint8_t* to;
    const uint8_t* from;
    size_t bytes;
    std::optional<size_t> list;  // instead of `bytes`
  };
  struct Lane {
    std::deque<Job> ready;
    std::deque<uint32_t> flying;
  };

  std::array<Span, 2> host_, device_;
  std::map<uint32_t, size_t> lists_;  // by step: the number of its list
  std::unique_ptr<Copier> copier_;
  std::array<Lane, 2> lanes_;  // by CopyWay
};

}  // namespace weft
