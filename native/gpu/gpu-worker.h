#pragma once
#include <napi.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <utility>

#include "../binding.h"

namespace weft {

/// Runs `work` on a pool thread and settles a promise with what `toValue` makes of its result, or with its Fault.
/// What `work` captures keeps alive what it uses.
template <typename Result>
class GpuWorker : public Napi::AsyncWorker {
 public:
  using Work = std::function<Result()>;
  using ToValue = std::function<Napi::Value(Napi::Env, const Result&)>;

  static Napi::Value start(Napi::Env env, Work work, ToValue toValue) {
    auto* worker = new GpuWorker(env, std::move(work), std::move(toValue));
    auto promise = worker->deferred_.Promise();
    worker->Queue();
    return promise;
  }

 private:
  GpuWorker(Napi::Env env, Work work, ToValue toValue)
      : AsyncWorker(env), deferred_(env), work_(std::move(work)), toValue_(std::move(toValue)) {}

  void Execute() override {
    try {
      result_ = work_();
    } catch (const std::exception& caught) {
      fault_ = toFault(caught, "gpu");
    }
    work_ = nullptr;  // lets go of the memory on this thread: freeing may wait for the GPU
  }

  void OnOK() override {
    settleWith(deferred_, Env(), [this] {
      if (fault_) throw *fault_;
      return toValue_(Env(), *result_);
    });
  }

  Napi::Promise::Deferred deferred_;
  Work work_;
  ToValue toValue_;
  std::optional<Result> result_;
  std::optional<Fault> fault_;
};

}  // namespace weft
