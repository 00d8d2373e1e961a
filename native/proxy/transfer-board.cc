#include "transfer-board.h"

#include <algorithm>

#include "../addon.h"
#include "../binding.h"
#include "../clock.h"

namespace weft {

namespace {

constexpr size_t kMostProducers = 65'536;
constexpr uint64_t kMostTransfers = 1ull << (48 - queue::kProducerBits);

}  // namespace

Napi::Function TransferBoard::define(Napi::Env env) {
  return DefineClass(env, "TransferBoard",
                     {
                         InstanceMethod<&TransferBoard::context>("context"),
                         InstanceMethod<&TransferBoard::putNbi>("putNbi"),
                         InstanceMethod<&TransferBoard::look>("look"),
                         InstanceMethod<&TransferBoard::finish>("finish"),
                     });
}

TransferBoard::TransferBoard(const Napi::CallbackInfo& info) : Napi::ObjectWrap<TransferBoard>(info) {
  info.This().As<Napi::Object>().TypeTag(&kTag);
  guarded(info.Env(), [&] {
    auto how = info[0].As<Napi::Object>();
    size_t producers = size(how.Get("producers"), "producers");
    if (producers == 0 || producers > kMostProducers) throw Fault("proxy", EINVAL, "a board has 1 to 65536 producers");
    auto gpu = how.Get("gpu");
    auto context = gpu.IsNumber() ? GpuContext::of(static_cast<int>(size(gpu, "gpu"))) : nullptr;
    auto shift = static_cast<uint32_t>(size(how.Get("shift"), "shift"));
    served_ = std::make_shared<ServedBoard>(static_cast<uint32_t>(producers), shift, context);
  });
}

std::shared_ptr<ServedBoard> TransferBoard::of(const Napi::Value& value) {
  auto object = value.As<Napi::Object>();
  if (!object.CheckTypeTag(&kTag)) throw Napi::TypeError::New(value.Env(), "not a board of transfers");
  return Unwrap(object)->served_;
}

Napi::Value TransferBoard::context(const Napi::CallbackInfo& info) {
  const queue::Board& board = served_->board.producers();
  auto bytes = Napi::Uint8Array::New(info.Env(), sizeof(board));
  std::copy_n(reinterpret_cast<const uint8_t*>(&board), sizeof(board), bytes.Data());
  return bytes;
}

queue::Sender TransferBoard::sender(const Napi::Value& producer) const {
  size_t number = size(producer, "producer");
  if (served_->onGpu) throw Fault("proxy", EINVAL, "the producers of this board are blocks of a kernel");
  if (number >= served_->board.host().producers) throw Fault("proxy", EINVAL, "there is no such producer");
  return queue::Sender(served_->board.host(), static_cast<uint32_t>(number), 0);
}

/// (producer, transfer); false when the service has ended. Waits only where the queue is full.
Napi::Value TransferBoard::putNbi(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    size_t transfer = size(info[1], "transfer");
    if (transfer >= kMostTransfers) throw Fault("proxy", EINVAL, "there is no such transfer");
    return Napi::Boolean::New(info.Env(), sender(info[0]).putNbi(transfer, monotonicNanoseconds()));
  });
}

/// (producer): 0 while something it asked for is under way, 1 when all is delivered, 2 when the service has ended.
Napi::Value TransferBoard::look(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return Napi::Number::New(info.Env(), static_cast<int>(sender(info[0]).look()));
  });
}

Napi::Value TransferBoard::finish(const Napi::CallbackInfo& info) {
  served_->closing.store(true, std::memory_order_release);
  return info.Env().Undefined();
}

void defineTransferBoard(Napi::Env env, Napi::Object exports) { exports.Set("TransferBoard", TransferBoard::define(env)); }

}  // namespace weft
