// Faults that can be switched at run time through the `faults` file of a device.
#pragma once
#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace efa {

/// Absent keys mean a healthy device. Readers on any thread see one value at a time; a set of values is not atomic.
class Faults {
 public:
  explicit Faults(std::string path) : path_(std::move(path)) {}

  /// Looks at the file again when the last look is 10 ms old. Any thread may call it.
  void refresh(uint64_t now) {
    if (now >= looked_at_.load(std::memory_order_relaxed) + kLookEvery) look(now);
  }

  std::atomic<bool> open{false};             // the device does not open
  std::atomic<bool> queues{false};           // the device makes no queue pair
  std::atomic<bool> silent{false};           // nothing leaves, nothing completes
  std::atomic<uint16_t> error{0};            // every work request completes with this status
  std::atomic<uint32_t> rnr{0};              // percent of arriving sends that find no receive
  std::atomic<uint64_t> delay_us{0};         // every work request leaves so much later
  std::atomic<uint32_t> corrupt{0};          // flip a byte in every n-th segment that leaves
  std::atomic<bool> early_immediate{false};  // completions with an immediate appear before their data
  std::atomic<bool> overrun{false};          // every other post finds the queue full
  std::atomic<uint32_t> drop{0};             // percent of segments that are lost and sent again

 private:
  static constexpr uint64_t kLookEvery = 10'000'000;
  void look(uint64_t now);
  void apply();

  const std::string path_;
  std::atomic<uint64_t> looked_at_{0};
  std::mutex looking_;
  struct stat seen_{};
  bool seen_file_ = false;
};

}  // namespace efa
