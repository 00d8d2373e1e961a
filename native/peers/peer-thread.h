#pragma once
#include <napi.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "../fault.h"

namespace weft {

/// A thread that runs jobs one after the other, each with a promise. It is for libraries that want all their calls
/// from one thread and may block in them for ever: whoever waits for such a call may give up, and the thread then
/// lives until the process ends.
class PeerThread : public std::enable_shared_from_this<PeerThread> {
 public:
  using Result = std::function<Napi::Value(Napi::Env)>;  // made on the JavaScript thread
  /// Runs on the peer's thread; what it throws rejects the promise.
  using Job = std::function<Result()>;

  static std::shared_ptr<PeerThread> start(Napi::Env env);

  Napi::Promise run(Napi::Env env, Job job);
  /// No further jobs; the thread ends after those it has.
  void stop();
  /// For JavaScript's thread, the only one that stops it.
  bool stopped() const { return stopped_; }

 private:
  struct Item;
  void loop();
  /// False when JavaScript's environment has ended: nobody is left to tell.
  bool tell(std::shared_ptr<Item> item);

  std::mutex gate_;
  std::condition_variable news_;
  std::deque<std::shared_ptr<Item>> items_;
  bool stopped_ = false;
  bool orphaned_ = false;
};

}  // namespace weft
