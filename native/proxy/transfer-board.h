#pragma once
#include <napi.h>

#include <memory>

#include "serving-executor.h"

namespace weft {

/// A served board as JavaScript sees it: the bytes that a kernel is given, or requests from JavaScript itself.
class TransferBoard : public Napi::ObjectWrap<TransferBoard> {
 public:
  static constexpr napi_type_tag kTag{0x7d1f0a3c55e94b02, 0x93b6c8e4f2a71d50};
  static Napi::Function define(Napi::Env env);
  /// ({ producers, shift, gpu? })
  explicit TransferBoard(const Napi::CallbackInfo& info);

  /// The board of such an object; a TypeError for any other.
  static std::shared_ptr<ServedBoard> of(const Napi::Value& value);

 private:
  Napi::Value context(const Napi::CallbackInfo& info);
  Napi::Value putNbi(const Napi::CallbackInfo& info);
  Napi::Value look(const Napi::CallbackInfo& info);
  Napi::Value finish(const Napi::CallbackInfo& info);
  queue::Sender sender(const Napi::Value& producer) const;

  std::shared_ptr<ServedBoard> served_;
};

}  // namespace weft
