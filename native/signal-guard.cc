#include "signal-guard.h"

namespace weft {

SignalGuard::SignalGuard() {
  for (int number = 1; number <= kLast; number++) sigaction(number, nullptr, &saved_[number]);
}

SignalGuard::~SignalGuard() {
  for (int number = 1; number <= kLast; number++) {
    if (number != SIGKILL && number != SIGSTOP) sigaction(number, &saved_[number], nullptr);
  }
}

}  // namespace weft
