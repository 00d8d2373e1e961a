#pragma once
#include <cstddef>
#include <cstdint>

namespace weft {

/// Anonymous host memory, backed by transparent huge pages where large enough; owned, touched, optionally locked.
class Mapping {
 public:
  /// Throws a Fault ("mmap" or "mlock"). Every page is touched, so that no first-touch cost is ever timed.
  Mapping(size_t bytes, bool locked);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  uint8_t* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
  size_t mapped_ = 0;
};

}  // namespace weft
