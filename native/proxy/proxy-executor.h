#pragma once
// Runs a plan whose writes start when producers ask for them. Everything else is the executor's: chunks, windows,
// barriers before and after, deadlines, aborts. What the clock encloses: see proxy-program.h.
#include "../plan/executor.h"
#include "proxy-producers.h"
#include "proxy.h"

namespace weft {

class ProxyExecutor : public Executor, protected Poster {
 public:
  /// The plan may hold nothing but writes that come after no other step. Throws a Fault (EINVAL).
  ProxyExecutor(Port& port, Plan plan, Region* source, Region* target, RemoteBuffers remotes, ProxyJob job);

  /// Of a traced run: five times for each request, in the order they were taken: pushed (on this rank's clock, by the
  /// clocks' relation), popped, posted, delivered, and seen by a quiet of the producer (0 where none showed it).
  const std::vector<double>& trace() const { return trace_; }
  const ClockRelation& clock() const { return clock_; }

 protected:
  void iterateAll(std::vector<double>& samples) override;
  void stepDone(uint32_t index) override;
  std::string awaited() const override;
  void begin(uint32_t transfer) override;

  ProxyJob job_;
  Proxy* proxy_ = nullptr;  // while serving

 private:
  void serve(ProxyProducers& producers, uint64_t total);
  void notePosted();
  void keepTrace(const ProxyProducers& producers);

  std::vector<uint32_t> transferOf_;  // by step
  std::vector<uint32_t> stepsLeft_;   // by transfer
  std::vector<uint32_t> unposted_;    // while tracing: transfers of which nothing has been posted
  uint64_t total_ = 0;
  std::vector<double> trace_;
  ClockRelation clock_;
};

}  // namespace weft
