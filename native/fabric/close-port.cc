#include "close-port.h"

#include <stdlib.h>
#include <unistd.h>

#include <future>
#include <mutex>
#include <thread>

namespace weft {

namespace {

// Handlers registered later run earlier: this one comes before libfabric's own, which would free what the thread uses.
void leaveAtExit() {
  static std::once_flag once;
  std::call_once(once, [] { on_exit([](int status, void*) { _exit(status); }, nullptr); });
}

}  // namespace

bool closeWithin(std::unique_ptr<Port> port, std::chrono::milliseconds limit) {
  auto closed = std::make_shared<std::promise<void>>();
  auto done = closed->get_future();
  std::thread thread([closed, held = std::move(port)]() mutable {
    held.reset();
    closed->set_value();
  });
  if (done.wait_for(limit) == std::future_status::ready) {
    thread.join();
    return true;
  }
  thread.detach();
  leaveAtExit();
  return false;
}

}  // namespace weft
