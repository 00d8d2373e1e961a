#pragma once
// Copies between device buffers and the host memory that stages them, and sums in device buffers, beside the transfers
// of a plan.
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "../gpu/span.h"
#include "../gpu/token-layout.h"
#include "sum.h"

namespace weft {

enum CopyWay : uint8_t { FromDevice, ToDevice, OnDevice };

/// What a plan asks of its device buffers, beside copies of one stretch.
struct DeviceWork {
  struct Sum {
    SumDtype dtype;
    uint32_t firstPart, parts;
  };
  std::vector<std::vector<CopyPart>> copies;  // parts each; offsets are of the buffers
  std::vector<Sum> sums;
  std::vector<SumPart> parts;  // of the sums
  std::vector<Addend> addends;
};

/// Starts copies and sums and knows when they have ended; one thread. Those of one way end in the order of their start;
/// sums go on the device.
class Copier {
 public:
  static constexpr size_t kInFlight = 8;  // per way: more add nothing, and each costs the driver some memory

  virtual ~Copier() = default;
  /// At most kInFlight of a way that `ended` has not told yet. A Fault when the device refuses.
  virtual void start(CopyWay way, uint8_t* to, const uint8_t* from, size_t bytes) = 0;
  /// The same for one of the copies that `make` was given; `to` and `from` are the starts of the way's buffers.
  virtual void startList(CopyWay way, uint8_t* to, const uint8_t* from, size_t list) = 0;
  /// The same for one of the sums.
  virtual void startSum(size_t sum) = 0;
  /// Whether the oldest of this way, which there must be, has ended. Never waits; a Fault when it ended badly.
  virtual bool ended(CopyWay way) = 0;
  /// Waits for all that was started. Never throws: a device that was lost has nothing to wait for.
  virtual void settle() noexcept = 0;

  /// For device buffers on a GPU, or in host memory, which tests use in a GPU's stead. `host` is what stages source and
  /// target; where copies have parts, CUDA must know it.
  static std::unique_ptr<Copier> make(const std::array<Span, 2>& host, const std::array<Span, 2>& device, DeviceWork work);
};

/// Tests only: changes one byte, wherever it lies.
void flipByte(const Span& span, size_t offset);

/// The copies of a plan, and its sums in device buffers: queued when they become ready, started and told from `poll`
/// alone, so that nothing is thrown into the middle of a completion queue.
class CopyLanes {
 public:
  /// Source and target, in the host's and in the device's memory. Device buffers are on one GPU. `numberOf`: by step,
  /// its place among the copies or the sums of the work.
  CopyLanes(std::array<Span, 2> host, std::array<Span, 2> device, DeviceWork work, std::map<uint32_t, size_t> numberOf);
  ~CopyLanes() { copier_->settle(); }

  /// Buffers as plans number them: 2 is copied to 0, 1 to 3, 3 to 1.
  void push(uint32_t step, uint32_t fromBuffer, size_t from, size_t to, size_t bytes);
  void pushSum(uint32_t step);
  /// Whether the plan's sums are its own; otherwise they are in host memory.
  bool adds() const { return adds_; }
  /// Starts what may start. Appends the steps that have ended; true when there were any.
  bool poll(std::vector<uint32_t>& ended);
  /// Forgets what was not started and waits for the rest; for a plan that failed.
  void settle() noexcept;
  const Span& target() const { return device_[1]; }

 private:
  struct Job {
    uint32_t step;
    uint8_t* to = nullptr;
    const uint8_t* from = nullptr;
    size_t bytes = 0;
    std::optional<size_t> number = {};  // of the work, instead of `bytes`
  };
  struct Lane {
    std::deque<Job> ready;
    std::deque<uint32_t> flying;
  };

  std::array<Span, 2> host_, device_;
  std::map<uint32_t, size_t> numberOf_;
  bool adds_;
  std::unique_ptr<Copier> copier_;
  std::array<Lane, 3> lanes_;  // by CopyWay
};

}  // namespace weft
