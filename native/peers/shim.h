#pragma once
// What the shims share.
#include <cstdio>
#include <cstring>
#include <exception>
#include <numeric>
#include <string>

#include "../clock.h"
#include "peer.h"

#define WEFT_PEER_EXPORT extern "C" __attribute__((visibility("default")))

namespace weft::peers {

inline double nanosecondsNow() { return static_cast<double>(monotonicNanoseconds()); }

inline void say(char* error, const std::string& text) {
  std::snprintf(error, WEFT_PEER_ERROR_BYTES, "%s", text.c_str());
}

/// No exception leaves a shim: what `body` throws becomes the error, and `otherwise` is returned.
template <typename Body, typename Result>
Result guarded(char* error, Result otherwise, Body&& body) {
  try {
    return body();
  } catch (const std::exception& caught) {
    say(error, caught.what());
  } catch (...) {
    say(error, "an unknown exception");
  }
  return otherwise;
}

/// How much of its two buffers a rank uses.
struct Footprint {
  uint64_t sourceBytes, targetBytes;
};

inline Footprint footprintOf(const weft_peer_collective& one, int rank, int size) {
  uint64_t all = one.bytes * static_cast<uint64_t>(size);
  switch (one.kind) {
    case WEFT_PEER_ALLTOALLV:
      return {std::accumulate(one.sendBytes, one.sendBytes + size, uint64_t{0}),
              std::accumulate(one.receiveBytes, one.receiveBytes + size, uint64_t{0})};
    case WEFT_PEER_ALLGATHER: return {one.bytes, all};
    case WEFT_PEER_REDUCE_SCATTER: return {all, one.bytes};
    case WEFT_PEER_BROADCAST: return rank == one.root ? Footprint{one.bytes, 0} : Footprint{0, one.bytes};
    default: return {one.bytes, one.bytes};
  }
}

/// An allgather works in place, as Weft's does: before it is timed, a rank's own block lies in its target.
inline void placeOwnBlock(const weft_peer_collective& one, int rank) {
  if (one.kind != WEFT_PEER_ALLGATHER || one.bytes == 0) return;
  std::memcpy(static_cast<char*>(one.target) + one.bytes * static_cast<uint64_t>(rank), one.source, one.bytes);
}

/// One duration for each batch of iterations.
template <typename Body>
void timeBatches(uint64_t iterations, uint64_t batch, double* nanoseconds, Body&& body) {
  for (uint64_t done = 0; done < iterations; done += batch) {
    double start = nanosecondsNow();
    body(batch);
    *nanoseconds++ = nanosecondsNow() - start;
  }
}

}  // namespace weft::peers
