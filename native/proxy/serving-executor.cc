#include "serving-executor.h"

namespace weft {

namespace {

ProxyJob oneStepEach(const Plan& plan) {
  ProxyJob job;
  for (uint32_t index = 0; index < plan.steps.size(); index++) job.steps.push_back({index});
  return job;
}

}  // namespace

ServingExecutor::ServingExecutor(Port& port, Plan plan, Region* source, Region* target,
                                 RemoteBuffers remotes, std::shared_ptr<ServedBoard> board)
    : ProxyExecutor(port, plan, source, target, std::move(remotes), oneStepEach(plan)), board_(std::move(board)) {
  announced_ = false;
}

void ServingExecutor::iterateAll(std::vector<double>&) {
  Proxy proxy(board_->board.host(), static_cast<uint32_t>(job_.steps.size()));
  proxy_ = &proxy;
  left_ = 0;
  serve(proxy);
  proxy_ = nullptr;
}

void ServingExecutor::serve(Proxy& proxy) {
  for (;;) {
    // Looked at before the queue: what was pushed before the word was given is then found in it.
    bool closing = board_->closing.load(std::memory_order_acquire);
    if (proxy.take(*this) > 0) {
      if (!failure_.empty()) giveFailure();
      quiet_ = 0;
    } else if (closing && left_ == 0) {
      return;
    }
    if (aborted_.load(std::memory_order_relaxed)) giveUp();
    // While nothing is under way there is nothing to be late: producers may think for as long as they like.
    if (left_ == 0) progressed_ = true;
    poll();
  }
}

}  // namespace weft
