#pragma once
#include <napi.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "binding.h"

namespace weft {

/// Makes the JavaScript value of a finished task, on JavaScript's thread.
using TaskResult = std::function<Napi::Value(Napi::Env)>;

/// Runs `work` on a thread of its own. JavaScript gets `{ done, abort, unref }`: a promise of the result, a function that
/// sets the flag `work` looks at, and one after which the process may end before `work` does. `work` must not touch
/// JavaScript; a Fault rejects the promise. When JavaScript's environment ends first (a worker is terminated), `work` is
/// aborted, and goes on alone with what it holds.
class Task {
 public:
  using Work = std::function<TaskResult(const std::atomic<bool>& aborted)>;

  static Napi::Object start(Napi::Env env, Work work) {
    auto task = std::make_shared<Task>(env, std::move(work));
    auto handle = Napi::Object::New(env);
    handle.Set("done", task->deferred_.Promise());
    handle.Set("abort", Napi::Function::New(env, [task](const Napi::CallbackInfo&) { task->aborted_.store(true); }));
    handle.Set("unref", Napi::Function::New(env, [task](const Napi::CallbackInfo& info) {
                 if (!task->ended_) task->told_.Unref(info.Env());
               }));
    task->leaving_ = env.AddCleanupHook(std::function<void()>([task] { task->orphan(); }));
    // The thread keeps the task; what JavaScript sees of the task is touched by JavaScript's thread alone.
    try {
      std::thread([task] { task->run(task); }).detach();
    } catch (...) {
      task->leaving_.Remove(env);
      task->told_.Release();
      throw;
    }
    return handle;
  }

  Task(Napi::Env env, Work work)
      : deferred_(env), told_(Napi::ThreadSafeFunction::New(env, Napi::Function(), "weft task", 0, 1)), work_(std::move(work)) {}

 private:
  void run(std::shared_ptr<Task> self) {
    try {
      result_ = work_(aborted_);
    } catch (const std::exception& caught) {
      fault_ = std::make_unique<Fault>(toFault(caught, "task"));
    }
    work_ = nullptr;  // its resources end here, not on JavaScript's thread
    // Node frees the function when the environment ends, whoever still holds it.
    std::lock_guard lock(gate_);
    if (orphaned_) return;
    told_.BlockingCall([self](Napi::Env env, Napi::Function) { self->settle(env); });
    told_.Release();
  }

  void orphan() {
    aborted_.store(true);
    std::lock_guard lock(gate_);
    orphaned_ = true;
  }

  void settle(Napi::Env env) {
    ended_ = true;
    leaving_.Remove(env);
    settleWith(deferred_, env, [&] {
      if (fault_) throw *fault_;
      return result_(env);
    });
  }

  Napi::Promise::Deferred deferred_;
  Napi::ThreadSafeFunction told_;
  Work work_;
  std::atomic<bool> aborted_{false};
  TaskResult result_;
  std::unique_ptr<Fault> fault_;
  Napi::Env::CleanupHook<std::function<void()>> leaving_;
  std::mutex gate_;
  bool orphaned_ = false;  // under `gate_`: the environment has ended, and `told_` with it
  bool ended_ = false;     // JavaScript's thread alone; `told_` is gone soon after
};

}  // namespace weft
