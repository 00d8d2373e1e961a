#pragma once
#include <memory>
#include <thread>
#include <vector>

#include "../gpu/gpu-clock.h"
#include "../memory/mapping.h"
#include "proxy-board.h"
#include "proxy-program.h"

namespace weft {

/// How a plan is proxied. Given by JavaScript.
struct ProxyJob {
  uint32_t producers = 1;  // CPU threads, or blocks of the kernel
  uint32_t block = 256;    // threads of a block
  uint32_t shift = 10;     // of the queue's capacity
  bool blocking = false, fill = false, trace = false;
  uint64_t seed = 0;
  GpuContextPtr context;  // null: CPU threads
  std::vector<std::vector<uint32_t>> steps;  // of the plan, by transfer
};

/// The buffer that transfers come from.
struct ProxySource {
  uint8_t* data = nullptr;
  size_t bytes = 0;
  bool onGpu = false;  // then only a kernel can fill it
};

/// The threads or the kernel that ask for transfers, and the memory they share with the proxy.
class ProxyProducers {
 public:
  ProxyProducers(const ProxyJob& job, std::vector<ProxyTransfer> transfers, const ProxySource& source, uint64_t iterations,
                 uint64_t batch);
  /// They must have been let go (Proxy::end) or be done.
  ~ProxyProducers();

  const queue::Board& board() const { return board_.host(); }
  void start(unsigned spins);
  /// A Fault when the kernel has failed. Never waits.
  void check() const;
  void join();

  /// The slowest producer's time of each sample.
  std::vector<double> samples() const;
  /// When a quiet showed the transfer delivered, on the producers' clock; 0 where none did. While tracing.
  uint64_t seen(uint64_t iteration, uint64_t transfer) const { return host_.seen[iteration * host_.transferCount + transfer]; }
  ClockRelation clock() const;

 private:
  void layOut(const std::vector<ProxyTransfer>& transfers, bool trace);
  void mapForGpu(const ProxySource& source);

  GpuContextPtr context_;
  uint32_t block_;
  ProxyBoard board_;
  std::unique_ptr<Mapping> results_;
  std::unique_ptr<HostRegistration> resultsRegistration_, sourceRegistration_;
  ProxyProgram host_{}, device_{};
  std::vector<std::thread> threads_;
  std::unique_ptr<Stream> stream_;
  ClockRelation before_;
};

}  // namespace weft
