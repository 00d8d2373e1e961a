#pragma once
// Whether what is asked for fits memory, before any of it is used.
#include <cerrno>
#include <cstddef>
#include <new>
#include <string>

#include "fault.h"

namespace weft {

/// Of one measurement: its samples come back in one array.
constexpr size_t kMostSamples = size_t{1} << 27;

inline void checkSamples(const char* operation, size_t samples) {
  if (samples > kMostSamples) throw Fault(operation, EINVAL, "a measurement has at most " + std::to_string(kMostSamples) + " samples");
}

/// Throws bad_alloc where 64 bits cannot hold it: no memory could.
inline size_t product(size_t count, size_t each) {
  size_t all = 0;
  if (__builtin_mul_overflow(count, each, &all)) throw std::bad_alloc();
  return all;
}

}  // namespace weft
