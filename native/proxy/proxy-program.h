#pragma once
// What producers do while a proxy is measured; the kernel and the CPU threads run the same program. An iteration asks for
// every transfer once, `blocking` with a quiet after each, else with one quiet at its end. What a sample encloses, on the
// producer's clock: from before the first request of `batch` iterations to the end of the quiet after the last.
#include "proxy-request.h"

namespace weft {

/// One transfer as its producer knows it: where its bytes lie in the source buffer.
struct ProxyTransfer {
  uint64_t offset, bytes;
};

struct ProxyProgram {
  queue::Board board;  // transfer t is asked for by producer t % board.producers
  uint8_t* source;
  const ProxyTransfer* transfers;
  uint64_t transferCount;
  uint64_t iterations, batch;
  uint64_t blocking;
  uint64_t fill;  // write the whole pattern before each request, else a stamp: the number of the iteration
  uint64_t seed;  // of the pattern
  uint64_t* samples;  // [producer][iterations / batch], nanoseconds
  uint64_t* seen;     // [iteration][transfer], producer's clock, or null: when a quiet showed the transfer delivered
};

/// Transfers shorter than this carry no stamp.
constexpr uint64_t kStampBytes = sizeof(uint64_t);

#if !defined(__CUDACC__)
/// A CPU producer's part. False when the proxy ended before it was done.
bool runProxyProgram(const ProxyProgram& program, uint32_t producer, unsigned spins);
#endif

}  // namespace weft
