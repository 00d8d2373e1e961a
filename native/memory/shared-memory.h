#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace weft {

/// Host memory that another process of this machine can map: an unnamed file, which the kernel removes with its last
/// user however that ends.
class SharedMemory {
 public:
  /// Makes it. Throws a Fault. No page is there until `prepare`.
  explicit SharedMemory(size_t bytes);
  /// Maps another process's, by the path that process gave.
  SharedMemory(const std::string& path, size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Touches every page, so that no first use is ever timed. Takes seconds for tens of GiB: any thread may do it.
  void prepare(const std::atomic<bool>& aborted);

  uint8_t* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  /// Where processes of the same user and pid namespace find it while this one lives.
  std::string path() const;

 private:
  void map(int flags);

  int fd_ = -1;
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace weft
