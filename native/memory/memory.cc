// Host buffers as JavaScript sees them: allocate, look at, fill, verify, close.
#include "memory.h"

#include <algorithm>

#include "../binding.h"
#include "../gpu/cuda-owners.h"
#include "../fault.h"
#include "../task.h"
#include "pattern.h"

namespace weft {

namespace {

constexpr size_t kInlineBytes = 256u << 10;  // up to here a fill is quicker than a trip to another thread

/// Locked pages are registered with CUDA too, where a GPU is in use.
void makeReady(Mapping& mapping, bool locked, std::atomic<size_t>& prepared, const std::atomic<bool>& aborted) {
  mapping.prepare(locked, prepared, aborted);
  auto context = locked ? GpuContext::inUse() : nullptr;
  if (context) mapping.registerWithGpu(context);
}

}  // namespace

Napi::Function Memory::define(Napi::Env env) {
  return DefineClass(env, "Memory",
                     {
                         InstanceMethod<&Memory::prepare>("prepare"),
                         InstanceMethod<&Memory::view>("view"),
                         InstanceMethod<&Memory::fill>("fill"),
                         InstanceMethod<&Memory::verify>("verify"),
                         InstanceMethod<&Memory::close>("close"),
                         InstanceMethod<&Memory::registerWithGpu>("registerWithGpu"),
                         InstanceAccessor<&Memory::address>("address"),
                         InstanceAccessor<&Memory::gpuRegistered>("gpuRegistered"),
                         InstanceAccessor<&Memory::gpuAddress>("gpuAddress"),
                     });
}

Memory::Memory(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Memory>(info) {
  info.This().As<Napi::Object>().TypeTag(&kTag);
  guarded(info.Env(), [&] {
    locked_ = info[1].ToBoolean();
    mapping_ = std::make_shared<Mapping>(size(info[0], "bytes"));
    if (info[2].ToBoolean()) return;  // `prepare` follows
    std::atomic<size_t> prepared{0};
    makeReady(*mapping_, locked_, prepared, false);
  });
}

// A task, with `prepared` beside `done`: how many bytes are ready.
Napi::Value Memory::prepare(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    range(0, 0);
    auto prepared = std::make_shared<std::atomic<size_t>>(0);
    auto work = [mapping = mapping_, locked = locked_, prepared](const std::atomic<bool>& aborted) -> TaskResult {
      makeReady(*mapping, locked, *prepared, aborted);
      return [](Napi::Env env) { return env.Undefined(); };
    };
    auto task = Task::start(info.Env(), std::move(work));
    task.Set("prepared", Napi::Function::New(info.Env(), [prepared](const Napi::CallbackInfo& call) {
               return Napi::Number::New(call.Env(), static_cast<double>(prepared->load(std::memory_order_relaxed)));
             }));
    return task;
  });
}

std::shared_ptr<Mapping> Memory::mappingOf(const Napi::Value& buffer) {
  if (!buffer.IsObject() || !buffer.As<Napi::Object>().CheckTypeTag(&kTag)) {
    throw Napi::TypeError::New(buffer.Env(), "not a buffer of host memory");
  }
  auto mapping = Unwrap(buffer.As<Napi::Object>())->mapping_;
  if (!mapping) throw Fault("memory", EBADF, "the buffer is closed");
  return mapping;
}

uint8_t* Memory::range(size_t offset, size_t bytes) const {
  if (!mapping_) throw Fault("memory", EBADF, "the buffer is closed");
  if (offset > mapping_->bytes() || bytes > mapping_->bytes() - offset) {
    throw Fault("memory", ERANGE, "the range is outside the buffer");
  }
  return mapping_->data() + offset;
}

Napi::Value Memory::view(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    size_t offset = size(info[0], "offset"), bytes = size(info[1], "bytes");
    uint8_t* data = range(offset, bytes);
    // A view holds the pages: it may outlive a buffer that nobody closed. The list of views holds no view.
    auto* holder = new std::shared_ptr<Mapping>(mapping_);
    auto buffer = Napi::ArrayBuffer::New(
        info.Env(), data, bytes, [](Napi::Env, void*, std::shared_ptr<Mapping>* held) { delete held; }, holder);
    if (views_.size() >= pruneAt_) {
      std::erase_if(views_, [](auto& view) { return view.Value().IsEmpty(); });
      pruneAt_ = std::max<size_t>(64, 2 * views_.size());
    }
    views_.push_back(Napi::Reference<Napi::ArrayBuffer>::New(buffer, 0));
    return buffer;
  });
}

/// Runs on a pool thread; the mapping stays alive through its own reference.
class PatternWorker : public Napi::AsyncWorker {
 public:
  PatternWorker(Napi::Env env, std::shared_ptr<Mapping> mapping, uint8_t* data, size_t bytes, uint64_t seed,
                uint64_t position, bool verify)
      : AsyncWorker(env), deferred(env), mapping_(std::move(mapping)), data_(data), bytes_(bytes), seed_(seed),
        position_(position), verify_(verify) {}

  Mismatch run() const {
    if (verify_) return verifyPattern(data_, bytes_, seed_, position_);
    fillPattern(data_, bytes_, seed_, position_);
    return {};
  }

  void Execute() override { mismatch_ = run(); }
  void OnOK() override { deferred.Resolve(toObject(Env(), mismatch_)); }

  Napi::Promise::Deferred deferred;

 private:
  std::shared_ptr<Mapping> mapping_;
  uint8_t* data_;
  size_t bytes_;
  uint64_t seed_, position_;
  bool verify_;
  Mismatch mismatch_;
};

Napi::Value Memory::pattern(const Napi::CallbackInfo& info, bool verify) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    size_t offset = size(info[0], "offset"), bytes = size(info[1], "bytes");
    auto seed = static_cast<uint64_t>(size(info[2], "seed"));
    auto position = static_cast<uint64_t>(size(info[3], "position"));
    auto* worker = new PatternWorker(info.Env(), mapping_, range(offset, bytes), bytes, seed, position, verify);
    auto promise = worker->deferred.Promise();
    if (bytes > kInlineBytes) {
      worker->Queue();
    } else {
      worker->deferred.Resolve(toObject(info.Env(), worker->run()));
      delete worker;
    }
    return promise;
  });
}

Napi::Value Memory::fill(const Napi::CallbackInfo& info) { return pattern(info, false); }
Napi::Value Memory::verify(const Napi::CallbackInfo& info) { return pattern(info, true); }

Napi::Value Memory::close(const Napi::CallbackInfo& info) {
  for (auto& view : views_) {
    auto buffer = view.Value();
    if (!buffer.IsEmpty() && !buffer.IsDetached()) buffer.Detach();
  }
  views_.clear();
  mapping_.reset();
  return info.Env().Undefined();
}

Napi::Value Memory::address(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return Napi::BigInt::New(info.Env(), reinterpret_cast<uint64_t>(range(0, 0)));
  });
}

Napi::Value Memory::registerWithGpu(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto context = GpuContext::of(static_cast<int>(size(info[0], "device")));
    range(0, 0);
    mapping_->registerWithGpu(context);
    return info.Env().Undefined();
  });
}

Napi::Value Memory::gpuRegistered(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    range(0, 0);
    return Napi::Boolean::New(info.Env(), mapping_->gpuRegistration() != nullptr);
  });
}

Napi::Value Memory::gpuAddress(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    range(0, 0);
    const auto* registration = mapping_->gpuRegistration();
    return registration ? Napi::BigInt::New(info.Env(), registration->devicePointer()).As<Napi::Value>() : info.Env().Undefined();
  });
}

}  // namespace weft
