// The block that a rank sends to itself: no fabric carries it, so a copy does, and it is timed.
#include <cstring>

#include "../addon.h"
#include "../binding.h"
#include "../clock.h"
#include "memory.h"

namespace weft {

namespace {

class CopyWorker : public Napi::AsyncWorker {
 public:
  CopyWorker(Napi::Env env, std::shared_ptr<Mapping> source, std::shared_ptr<Mapping> target, size_t from, size_t to,
             size_t bytes)
      : AsyncWorker(env), deferred(env), source_(std::move(source)), target_(std::move(target)), from_(from), to_(to),
        bytes_(bytes) {}

  void Execute() override {
    uint64_t start = monotonicNanoseconds();
    std::memcpy(target_->data() + to_, source_->data() + from_, bytes_);
    nanoseconds_ = static_cast<double>(monotonicNanoseconds() - start);
  }
  void OnOK() override { deferred.Resolve(Napi::Number::New(Env(), nanoseconds_)); }

  Napi::Promise::Deferred deferred;

 private:
  std::shared_ptr<Mapping> source_, target_;
  size_t from_, to_, bytes_;
  double nanoseconds_ = 0;
};

// (source, target, source offset, target offset, bytes): nanoseconds.
Napi::Value copyBlock(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto source = Memory::mappingOf(info[0]), target = Memory::mappingOf(info[1]);
    size_t from = size(info[2], "from"), to = size(info[3], "to"), bytes = size(info[4], "bytes");
    auto outside = [bytes](const auto& mapping, size_t offset) {
      return offset > mapping->bytes() || bytes > mapping->bytes() - offset;
    };
    if (outside(source, from) || outside(target, to)) throw Fault("memory", ERANGE, "the block is outside the buffer");
    auto* worker = new CopyWorker(info.Env(), source, target, from, to, bytes);
    auto promise = worker->deferred.Promise();
    worker->Queue();
    return promise;
  });
}

}  // namespace

void defineBlockCopy(Napi::Env env, Napi::Object exports) {
  exports.Set("copyBlock", Napi::Function::New<copyBlock>(env));
}

}  // namespace weft
