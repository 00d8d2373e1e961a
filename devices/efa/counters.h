// hw_counters of one device: numbers in a mapping that all processes of the device share, and the text files made from it.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace efa {

enum Counter : unsigned {
  kTxBytes,
  kTxPackets,
  kRxBytes,
  kRxPackets,
  kRxDrops,
  kSendBytes,
  kSendRequests,
  kRecvBytes,
  kRecvRequests,
  kWriteRequests,
  kWriteBytes,
  kWriteErrors,
  kWriteRecvBytes,
  kReadRequests,
  kReadBytes,
  kReadErrors,
  kReadResponseBytes,
  kRetransmittedBytes,
  kRetransmittedPackets,
  kRetransmitTimeouts,
  kUnresponsiveRemotes,
  kImpairedRemotes,
  kCounterCount,
};

/// Numbers only grow while the tree exists. A process that dies leaves what it has counted in the mapping; the next
/// publication by anyone shows it.
class Counters {
 public:
  Counters(const std::string& emulation_folder, const std::string& ibdev, uint32_t lifespan_ms);
  ~Counters();
  Counters(const Counters&) = delete;

  /// Any thread.
  void add(Counter which, uint64_t n) {
    shared_->values[which].fetch_add(n, std::memory_order_relaxed);
    changed_.store(true, std::memory_order_release);
  }

  /// When the files must be written next, kNever if they are up to date. Any thread, as for `publish`.
  uint64_t due(uint64_t now);
  /// Writes the files whose number changed. `now` may be kNever to write at once.
  void publish(uint64_t now);

 private:
  struct Shared {
    std::array<std::atomic<uint64_t>, kCounterCount> values;
    std::array<std::atomic<uint64_t>, kCounterCount> published;
  };
  void write_files();

  const std::string folder_;  // .../ports/1/hw_counters
  const uint64_t lifespan_;
  Shared* shared_;
  int file_;
  std::atomic<bool> changed_{false};
  std::mutex publishing_;
  std::atomic<uint64_t> changed_at_{0};
};

}  // namespace efa
