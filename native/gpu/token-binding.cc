// Copies of parts and sums of rows as JavaScript prepares, runs and times them.
#include <mutex>

#include "../addon.h"
#include "../memory/memory.h"
#include "device-memory.h"
#include "gpu-timing.h"
#include "gpu-worker.h"
#include "span.h"
#include "token-work.h"

namespace weft {

namespace {

/// Work and its stream, held by JavaScript and by running workers. One run at a time.
struct Prepared {
  Prepared(GpuContextPtr onGpu, std::unique_ptr<TokenWork> what)
      : context(std::move(onGpu)), work(std::move(what)), stream(context) {}
  GpuContextPtr context;
  std::unique_ptr<TokenWork> work;
  Stream stream;
  std::mutex gate;
};

/// A buffer as the GPU sees it.
struct Place {
  CuPointer pointer;
  std::shared_ptr<void> owner;
};

/// A Fault unless it has `bytes` and the GPU reaches it.
Place placeOf(const Napi::Value& buffer, const GpuContext& gpu, uint64_t bytes, const char* name) {
  Span span = spanOf(buffer);
  if (bytes > span.bytes) {
    throw Fault("memory", ERANGE, std::string("the ") + name + " needs " + std::to_string(bytes) + " bytes and has " +
                                      std::to_string(span.bytes));
  }
  if (span.context) {
    if (span.context->device() != gpu.device()) throw Fault("memory", ERANGE, std::string("the ") + name + " is on another GPU");
    return {reinterpret_cast<CuPointer>(span.base), span.owner};
  }
  auto mapping = Memory::mappingOf(buffer);
  const HostRegistration* registration = mapping->gpuRegistration();
  if (!registration) throw Fault("memory", ERANGE, std::string("the GPU cannot reach the ") + name);
  return {registration->devicePointer(), span.owner};
}

uint32_t word(const Napi::Object& object, const char* name) {
  size_t value = field(object, name);
  if (value > UINT32_MAX) throw Fault("arguments", EINVAL, std::string(name) + " does not fit 32 bits");
  return static_cast<uint32_t>(value);
}

template <typename Array>
Array arrayOf(const Napi::Object& object, const char* name, napi_typedarray_type type) {
  Napi::Value found = object.Get(name);
  if (!found.IsTypedArray() || found.As<Napi::TypedArray>().TypedArrayType() != type) {
    throw Fault("arguments", EINVAL, std::string(name) + " is not a typed array of the type it needs");
  }
  return found.As<Array>();
}

std::vector<CopyPart> readParts(const Napi::Float64Array& numbers) {
  std::vector<CopyPart> parts(numbers.ElementLength() / 3);
  auto whole = [&](size_t i) { return size(numbers.Env(), numbers[i], "a part"); };
  for (size_t i = 0; i < parts.size(); i++) parts[i] = {whole(3 * i), whole(3 * i + 1), whole(3 * i + 2)};
  return parts;
}

std::unique_ptr<TokenWork> readWork(const GpuContextPtr& context, const Napi::Object& what) {
  if (what.Has("parts")) {
    return std::make_unique<PartsCopy>(context, readParts(arrayOf<Napi::Float64Array>(what, "parts", napi_float64_array)));
  }
  auto index = arrayOf<Napi::Int32Array>(what, "index", napi_int32_array);
  auto weights = arrayOf<Napi::Float32Array>(what, "weights", napi_float32_array);
  return std::make_unique<RowSumWork>(
      context, what.Get("dtype").As<Napi::String>().Utf8Value(), word(what, "elements"),
      word(what, "addends"),
      std::vector<int32_t>(index.Data(), index.Data() + index.ElementLength()),
      std::vector<float>(weights.Data(), weights.Data() + weights.ElementLength()));
}

class TokenKernel : public Napi::ObjectWrap<TokenKernel> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "TokenKernel",
                       {InstanceMethod<&TokenKernel::time>("time"), InstanceMethod<&TokenKernel::close>("close")});
  }

  /// (gpu, { parts } or { dtype, elements, addends, index, weights })
  explicit TokenKernel(const Napi::CallbackInfo& info) : Napi::ObjectWrap<TokenKernel>(info) {
    guarded(info.Env(), [&] {
      auto context = GpuContext::of(static_cast<int>(size(info[0], "gpu")));
      prepared_ = std::make_shared<Prepared>(context, readWork(context, info[1].As<Napi::Object>()));
    });
  }

 private:
  /// (to, from, repeats): resolves with the milliseconds of one; 0 repeats: runs it once, untimed.
  Napi::Value time(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      if (!prepared_) throw Fault("memory", EBADF, "the kernel is closed");
      Place to = placeOf(info[0], *prepared_->context, prepared_->work->toBytes(), "target");
      Place from = placeOf(info[1], *prepared_->context, prepared_->work->fromBytes(), "source");
      size_t repeats = size(info[2], "repeats");
      auto work = [=, prepared = prepared_] {
        std::lock_guard lock(prepared->gate);
        return timeRepeats(prepared->context, prepared->stream, repeats,
                           [&] { prepared->work->enqueue(to.pointer, from.pointer, prepared->stream); });
      };
      return GpuWorker<double>::start(info.Env(), work,
                                      [](Napi::Env env, double ms) { return Napi::Number::New(env, ms); });
    });
  }

  Napi::Value close(const Napi::CallbackInfo& info) {
    prepared_.reset();
    return info.Env().Undefined();
  }

  std::shared_ptr<Prepared> prepared_;
};

}  // namespace

void defineTokenKernel(Napi::Env env, Napi::Object exports) { exports.Set("TokenKernel", TokenKernel::define(env)); }

}  // namespace weft
