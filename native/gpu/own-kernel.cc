// A kernel that the library's user brings, as JavaScript loads and launches it.
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "../addon.h"
#include "../clock.h"
#include "cuda-owners.h"
#include "../task.h"

namespace weft {

namespace {

/// A kernel's parameters are 4 KiB at most on every GPU we run on.
constexpr size_t kMostArgumentBytes = 4096;
/// Kernels that end sooner than this are seen at once; for longer ones the waiting thread sleeps between its looks.
constexpr uint64_t kWatchedNanoseconds = 200'000;
constexpr std::chrono::microseconds kNap{100};

struct Shape {
  unsigned x, y, z;
};

struct Launch {
  GpuContextPtr context;
  CuFunction function;
  Shape grid, block;
  unsigned sharedBytes;
  std::vector<std::vector<uint8_t>> arguments;
  uint64_t timeoutNanoseconds;
};

Shape readShape(const Napi::Value& value) {
  auto sides = list(value, "a shape", 3);
  auto at = [&](uint32_t i) { return static_cast<unsigned>(size(sides.Get(i), "shape")); };
  return {at(0), at(1), at(2)};
}

// A kernel cannot be stopped: when it is given up it runs on, and its stream goes when it ends.
void runLaunch(Launch& launch, const std::atomic<bool>& aborted) {
  Stream stream(launch.context);
  {
    CudaCurrent current(*launch.context);
    std::vector<void*> parameters;
    for (auto& argument : launch.arguments) parameters.push_back(argument.data());
    const auto& [grid, block] = std::pair(launch.grid, launch.block);
    WEFT_CU(cuLaunchKernel, launch.function, grid.x, grid.y, grid.z, block.x, block.y, block.z, launch.sharedBytes,
            stream.handle(), parameters.data(), nullptr);
  }
  uint64_t start = monotonicNanoseconds();
  while (!stream.done()) {
    uint64_t waited = monotonicNanoseconds() - start;
    if (aborted.load(std::memory_order_relaxed)) throw Fault("launch", ECANCELED, "the wait for the kernel was aborted");
    if (waited > launch.timeoutNanoseconds) throw Fault("launch", ETIMEDOUT, "the kernel did not finish in time");
    if (waited < kWatchedNanoseconds) std::this_thread::yield();
    else std::this_thread::sleep_for(kNap);
  }
}

class OwnKernel : public Napi::ObjectWrap<OwnKernel> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "OwnKernel", {InstanceMethod<&OwnKernel::launch>("launch")});
  }

  /// (gpu, PTX, name)
  explicit OwnKernel(const Napi::CallbackInfo& info) : Napi::ObjectWrap<OwnKernel>(info) {
    guarded(info.Env(), [&] {
      context_ = GpuContext::of(static_cast<int>(size(info[0], "gpu")));
      function_ = loadKernel(*context_, info[1].As<Napi::String>().Utf8Value(), info[2].As<Napi::String>().Utf8Value());
    });
  }

 private:
  /// ({ grid, block, sharedBytes, args, timeoutMs }); arguments are bytes, as many as the kernel's parameters have.
  Napi::Value launch(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      auto how = info[0].As<Napi::Object>();
      Launch launch{context_, function_, readShape(how.Get("grid")), readShape(how.Get("block")),
                    static_cast<unsigned>(size(how.Get("sharedBytes"), "shared bytes")), {},
                    size(how.Get("timeoutMs"), "timeoutMs") * 1'000'000u};
      auto arguments = list(how.Get("args"), "args", kMostArgumentBytes);
      for (uint32_t i = 0; i < arguments.Length(); i++) {
        auto bytes = octets(arguments.Get(i), "an argument");
        if (bytes.ElementLength() > kMostArgumentBytes) throw Fault("launch", EINVAL, "an argument can have at most 4096 bytes");
        launch.arguments.emplace_back(bytes.Data(), bytes.Data() + bytes.ElementLength());
      }
      auto work = [launch = std::move(launch)](const std::atomic<bool>& aborted) mutable -> TaskResult {
        runLaunch(launch, aborted);
        return [](Napi::Env env) { return env.Undefined(); };
      };
      return Task::start(info.Env(), std::move(work));
    });
  }

  GpuContextPtr context_;
  CuFunction function_ = nullptr;
};

}  // namespace

void defineOwnKernel(Napi::Env env, Napi::Object exports) { exports.Set("OwnKernel", OwnKernel::define(env)); }

}  // namespace weft
