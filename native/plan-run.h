#pragma once
#include <napi.h>

#include <functional>
#include <memory>
#include <thread>

#include "fault.h"
#include "plan-job.h"

namespace weft {

/// One call of JavaScript's `run`: an executor on a thread of its own, and the promise of its samples. A proxied run
/// gives an object with the samples, the trace and the clocks' relation; one that expects bytes, the samples and what
/// was not there in time; one with marks or with silences to record, the samples and those.
class PlanRun {
 public:
  /// Reads everything from `job` before any other thread starts. `onEnd` is called on the JavaScript thread, before
  /// the promise settles, with whether the run failed.
  PlanRun(Napi::Object job, Port& port, std::function<void(bool failed)> onEnd);
  ~PlanRun();
  PlanRun(const PlanRun&) = delete;
  PlanRun& operator=(const PlanRun&) = delete;

  Napi::Promise promise() const { return deferred_.Promise(); }
  void abort() { job_.executor->abort(); }
  /// Aborts the run, if it has not ended, and waits for its thread. Nobody is told: for an environment that ends.
  void end();

 private:
  void work();
  void settle(Napi::Env env);
  Napi::Value result(Napi::Env env) const;

  Napi::Promise::Deferred deferred_;
  std::function<void(bool)> onEnd_;
  PlanJob job_;
  std::vector<double> samples_;
  std::unique_ptr<Fault> fault_;
  Napi::ThreadSafeFunction told_;
  Napi::Env::CleanupHook<std::function<void()>> leaving_;
  std::atomic<bool> orphaned_{false};  // nobody is left to tell
  std::thread thread_;
};

}  // namespace weft
