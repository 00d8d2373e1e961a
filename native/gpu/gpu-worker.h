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
    } catch (const Fault& fault) {
      fault_ = fault;
    } catch (const std::exception& error) {
      fault_ = Fault("gpu", ENOMEM, error.what());
    }
    work_ = nullptr;  // lets go of the memory on this thread: freeing may wait for the GPU
  }

  void OnOK() override {
    if (fault_) {
      deferred_.Reject(toError(Env(), *fault_).Value());
    } else {
      deferred_.Resolve(toValue_(Env(), *result_));
    }
  }

  Napi::Promise::Deferred deferred_;
  Work work_;
  ToValue toValue_;
  std::optional<Result> result_;
  std::optional<Fault> fault_;
};

}  // namespace weft
