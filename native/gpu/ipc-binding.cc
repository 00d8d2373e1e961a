// Memory between two processes, as JavaScript has it: SharedMemory is whose memory it is, PeerMemory who writes to it.
#include <thread>

#include "../addon.h"
#include "ipc.h"
#include "../memory/pattern.h"
#include "../task.h"

namespace weft {

namespace {

IpcJob readJob(const Napi::Object& from) {
  return {static_cast<uint32_t>(field(from, "grid")), static_cast<uint32_t>(field(from, "block")), field(from, "bytes"),
          static_cast<uint64_t>(field(from, "seed")), static_cast<uint64_t>(field(from, "batch")),
          static_cast<uint64_t>(field(from, "samples"))};
}

}  // namespace

class PeerMemory : public Napi::ObjectWrap<PeerMemory> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "PeerMemory",
                       {
                           InstanceMethod<&PeerMemory::write>("write"),
                           InstanceMethod<&PeerMemory::copy>("copy"),
                           InstanceMethod<&PeerMemory::close>("close"),
                       });
  }

  /// `{ bytes, path }` for host memory, `{ bytes, gpu, handle }` for a GPU's.
  explicit PeerMemory(const Napi::CallbackInfo& info) : Napi::ObjectWrap<PeerMemory>(info) {
    guarded(info.Env(), [&] {
      auto from = info[0].As<Napi::Object>();
      size_t bytes = field(from, "bytes");
      if (!from.Get("gpu").IsNumber()) {
        target_ = openHostTarget(from.Get("path").As<Napi::String>().Utf8Value(), bytes);
        return;
      }
      auto given = octets(from.Get("handle"), "the handle");
      CuIpcHandle handle{};
      if (given.ByteLength() != sizeof(handle)) throw Fault("ipc", EINVAL, "not a handle of GPU memory");
      std::copy_n(given.Data(), sizeof(handle), reinterpret_cast<uint8_t*>(&handle));
      target_ = openGpuTarget(GpuContext::of(static_cast<int>(field(from, "gpu"))), handle, bytes);
    });
  }

 private:
  using Method = std::vector<double> (IpcTarget::*)(const IpcJob&, const std::atomic<bool>&);

  Napi::Value start(const Napi::CallbackInfo& info, Method method) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      if (!target_) throw Fault("memory", EBADF, "the memory is closed");
      IpcJob job = readJob(info[0].As<Napi::Object>());
      return Task::start(info.Env(), [target = target_, job, method](const std::atomic<bool>& aborted) -> TaskResult {
        auto samples = ((*target).*method)(job, aborted);
        return [samples = std::move(samples)](Napi::Env env) -> Napi::Value { return toArray(env, samples); };
      });
    });
  }
  Napi::Value write(const Napi::CallbackInfo& info) { return start(info, &IpcTarget::write); }
  Napi::Value copy(const Napi::CallbackInfo& info) { return start(info, &IpcTarget::copy); }
  Napi::Value close(const Napi::CallbackInfo& info) {
    target_.reset();
    return info.Env().Undefined();
  }

  std::shared_ptr<IpcTarget> target_;
};

class SharedMemoryObject : public Napi::ObjectWrap<SharedMemoryObject> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "SharedMemory",
                       {
                           InstanceMethod<&SharedMemoryObject::prepare>("prepare"),
                           InstanceMethod<&SharedMemoryObject::verify>("verify"),
                           InstanceMethod<&SharedMemoryObject::flip>("flip"),
                           InstanceMethod<&SharedMemoryObject::memsetNanoseconds>("memsetNanoseconds"),
                           InstanceMethod<&SharedMemoryObject::close>("close"),
                           InstanceAccessor<&SharedMemoryObject::path>("path"),
                       });
  }

  explicit SharedMemoryObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<SharedMemoryObject>(info) {
    guarded(info.Env(), [&] { memory_ = std::make_shared<SharedMemory>(std::max<size_t>(size(info[0], "bytes"), 1)); });
  }

 private:
  const std::shared_ptr<SharedMemory>& held(size_t bytes) const {
    if (!memory_) throw Fault("memory", EBADF, "the memory is closed");
    if (bytes > memory_->bytes()) throw Fault("memory", ERANGE, "the range is outside the memory");
    return memory_;
  }

  Napi::Value prepare(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      auto memory = held(0);
      return Task::start(info.Env(), [memory](const std::atomic<bool>& aborted) -> TaskResult {
        memory->prepare(aborted);
        return [](Napi::Env env) -> Napi::Value { return env.Undefined(); };
      });
    });
  }

  // Resolves with wrong, offset, expected and found.
  Napi::Value verify(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      size_t bytes = size(info[0], "bytes"), seed = size(info[1], "seed");
      auto memory = held(bytes);
      return Task::start(info.Env(), [memory, bytes, seed](const std::atomic<bool>&) -> TaskResult {
        Mismatch found = verifyPattern(memory->data(), bytes, seed, 0);
        return [found](Napi::Env env) -> Napi::Value {
          return toArray(env, {static_cast<double>(found.wrong), static_cast<double>(found.offset),
                               static_cast<double>(found.expected), static_cast<double>(found.found)});
        };
      });
    });
  }

  // Tests only.
  Napi::Value flip(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      size_t at = size(info[0], "offset");
      held(at + 1)->data()[at] ^= 1;
      return info.Env().Undefined();
    });
  }

  Napi::Value memsetNanoseconds(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      size_t bytes = size(info[0], "bytes");
      auto threads = static_cast<unsigned>(std::clamp<size_t>(size(info[1], "threads"), 1, 64));
      auto memory = held(bytes);
      return Task::start(info.Env(), [memory, bytes, threads](const std::atomic<bool>& aborted) -> TaskResult {
        double nanoseconds = hostMemsetNanoseconds(*memory, bytes, threads, aborted);
        return [nanoseconds](Napi::Env env) -> Napi::Value { return Napi::Number::New(env, nanoseconds); };
      });
    });
  }

  Napi::Value path(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value { return Napi::String::New(info.Env(), held(0)->path()); });
  }
  Napi::Value close(const Napi::CallbackInfo& info) {
    memory_.reset();
    return info.Env().Undefined();
  }

  std::shared_ptr<SharedMemory> memory_;
};

namespace {

// Between two GPUs of this process: over NVLink, to the best of the driver's knowledge? Native atomics between GPUs are
// what PCIe does not have.
Napi::Value gpusLinked(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    constexpr int kNativeAtomics = 3;
    CuDevice from = 0, to = 0;
    int linked = 0;
    WEFT_CU(cuDeviceGet, &from, static_cast<int>(size(info[0], "gpu")));
    WEFT_CU(cuDeviceGet, &to, static_cast<int>(size(info[1], "gpu")));
    WEFT_CU(cuDeviceGetP2PAttribute, &linked, kNativeAtomics, from, to);
    return Napi::Boolean::New(info.Env(), linked != 0);
  });
}

}  // namespace

void defineIpc(Napi::Env env, Napi::Object exports) {
  exports.Set("gpusLinked", Napi::Function::New<gpusLinked>(env));
  exports.Set("PeerMemory", PeerMemory::define(env));
  exports.Set("SharedMemory", SharedMemoryObject::define(env));
}

}  // namespace weft
