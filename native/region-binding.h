#pragma once
#include <napi.h>

#include <functional>
#include <future>
#include <vector>

#include "fabric/port.h"

namespace weft {

/// The keys that JavaScript asks for, one per endpoint.
std::vector<uint64_t> readKeys(const Napi::Value& from, const Port& port);

/// `{ id, keys }` of a registered region.
Napi::Object granted(Napi::Env env, Port& port, uint32_t id);

/// A region of another rank: an address and a key for each endpoint, or a TypeError.
RemoteRegion readRemote(const Napi::Value& addresses, const Napi::Value& keys, const Port& port);

/// Registers host memory on a thread of its own: pinning tens of GiB takes seconds.
class LaterRegion {
 public:
  /// A promise of `{ id, keys }`. Only this thread may use the port until `onEnd` is called, on JavaScript's thread, or
  /// the environment ends.
  Napi::Value start(Napi::Env env, Port& port, Span memory, std::vector<uint64_t> keys, std::function<void()> onEnd);
  /// Returns when no thread uses the port.
  void wait() const {
    if (over_.valid()) over_.wait();
  }

 private:
  std::future<void> over_;
};

}  // namespace weft
