#include "peer-thread.h"

#include <thread>

#include "../binding.h"

namespace weft {

struct PeerThread::Item {
  Item(Napi::Env env, Job job)
      : deferred(env), job(std::move(job)),
        told(Napi::ThreadSafeFunction::New(env, Napi::Function(), "weft peer", 0, 1)) {
    // A call that never returns must not keep the process alive; who waits for one has a timer.
    told.Unref(env);
  }

  void perform() {
    try {
      result = job();
    } catch (const std::exception& caught) {
      fault = std::make_unique<Fault>(toFault(caught, "peer"));
    }
  }

  void settle(Napi::Env env) {
    settleWith(deferred, env, [&] {
      if (fault) throw *fault;
      return result ? result(env) : env.Undefined();
    });
  }

  Napi::Promise::Deferred deferred;
  Job job;
  Napi::ThreadSafeFunction told;
  Result result;
  std::unique_ptr<Fault> fault;
};

std::shared_ptr<PeerThread> PeerThread::start(Napi::Env env) {
  auto thread = std::make_shared<PeerThread>();
  env.AddCleanupHook([thread] {
    std::lock_guard lock(thread->gate_);
    thread->orphaned_ = true;
  });
  // Detached, and holding itself: nobody may have to wait for a library that does not return.
  std::thread([thread] { thread->loop(); }).detach();
  return thread;
}

Napi::Promise PeerThread::run(Napi::Env env, Job job) {
  if (stopped()) throw Fault("peer", EBADF, "the peer is closed");
  auto item = std::make_shared<Item>(env, std::move(job));
  auto promise = item->deferred.Promise();
  {
    std::lock_guard lock(gate_);
    items_.push_back(std::move(item));
  }
  news_.notify_one();
  return promise;
}

void PeerThread::stop() {
  {
    std::lock_guard lock(gate_);
    stopped_ = true;
  }
  news_.notify_one();
}

void PeerThread::loop() {
  for (;;) {
    std::shared_ptr<Item> item;
    {
      std::unique_lock lock(gate_);
      news_.wait(lock, [this] { return stopped_ || !items_.empty(); });
      if (items_.empty()) return;
      item = std::move(items_.front());
      items_.pop_front();
    }
    item->perform();
    if (!tell(std::move(item))) return;
  }
}

bool PeerThread::tell(std::shared_ptr<Item> item) {
  // The item, with its deferred, must die on the JavaScript thread: it goes there with the call, or nowhere.
  auto* carried = new std::shared_ptr<Item>(std::move(item));
  std::lock_guard lock(gate_);
  if (orphaned_) return false;
  // Node frees the function when its environment ends, whoever still holds it, and nothing keeps the process alive for
  // it: this thread must not touch it once the call is made. So JavaScript's thread releases it.
  auto status = (*carried)->told.BlockingCall(carried, [](Napi::Env env, Napi::Function, std::shared_ptr<Item>* held) {
    Napi::HandleScope scope(env);
    try {
      (*held)->settle(env);
    } catch (const Napi::Error&) {
      // The process is ending: JavaScript can no longer run, and nobody waits.
    }
    (*held)->told.Release();
    delete held;
  });
  return status == napi_ok;
}

}  // namespace weft
