#pragma once
// Carries out a plan's writes when producers that somebody else runs ask for them, until it is told that there will be no
// more. Writes carry no immediates: nobody knows how often each will be asked for, so no target can wait for a number of
// them. Every rank serves, if only to make progress, and all meet in the executor's barrier at the end.
#include <atomic>
#include <memory>

#include "proxy-board.h"
#include "proxy-executor.h"

namespace weft {

/// A board that is served, shared by JavaScript and the executor.
struct ServedBoard {
  ServedBoard(uint32_t producers, uint32_t shift, const GpuContextPtr& context)
      : board(producers, shift, context), onGpu(context != nullptr) {}

  /// Nothing will be delivered any more: producers that push or wait are let go.
  void end() { Proxy(board.host(), 0).end(); }

  ProxyBoard board;
  const bool onGpu;
  std::atomic<bool> closing{false};  // producers have ended: what they asked for is all there will be
};

class ServingExecutor final : public ProxyExecutor {
 public:
  /// The plan is one write per transfer. The caller ends the board when `run` has returned or thrown.
  ServingExecutor(Port& port, Plan plan, Region* source, Region* target, RemoteBuffers remotes,
                  std::shared_ptr<ServedBoard> board);

 private:
  void iterateAll(std::vector<double>& samples) override;
  std::string awaited() const override { return Executor::awaited(); }
  void serve(Proxy& proxy);

  std::shared_ptr<ServedBoard> board_;
};

}  // namespace weft
