#pragma once
#include <csignal>

namespace weft {

/// libfabric and what it loads install signal handlers of their own (its shm provider when an endpoint is made, the
/// PSM libraries as soon as they are loaded) that would replace Node's. This guard puts back what was there; the
/// sweep of stale segments does the shm handlers' job.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  static constexpr int kLast = 31;  // real-time signals belong to nobody here
  struct sigaction saved_[kLast + 1];
};

}  // namespace weft
