#pragma once
#include <napi.h>

#include <memory>
#include <vector>

#include "mapping.h"

namespace weft {

/// A Mapping owned by JavaScript. Registered regions and running workers hold the mapping too, so closing this
/// object detaches every view at once and frees the pages when the last holder lets go.
class Memory : public Napi::ObjectWrap<Memory> {
 public:
  static constexpr napi_type_tag kTag{0x5a1c93e0b7d24f66, 0x8f0e2b6d41c7a935};
  static Napi::Function define(Napi::Env env);
  explicit Memory(const Napi::CallbackInfo& info);

  /// What a buffer that JavaScript names holds. A TypeError where it is no buffer, a Fault where it is closed.
  static std::shared_ptr<Mapping> mappingOf(const Napi::Value& buffer);

 private:
  uint8_t* range(size_t offset, size_t bytes) const;
  Napi::Value pattern(const Napi::CallbackInfo& info, bool verify);

  Napi::Value prepare(const Napi::CallbackInfo& info);
  Napi::Value view(const Napi::CallbackInfo& info);
  Napi::Value fill(const Napi::CallbackInfo& info);
  Napi::Value verify(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);
  Napi::Value registerWithGpu(const Napi::CallbackInfo& info);
  Napi::Value gpuRegistered(const Napi::CallbackInfo& info);
  Napi::Value gpuAddress(const Napi::CallbackInfo& info);
  Napi::Value address(const Napi::CallbackInfo& info);

  std::shared_ptr<Mapping> mapping_;
  bool locked_;
  std::vector<Napi::Reference<Napi::ArrayBuffer>> views_;  // weak
  size_t pruneAt_ = 64;
};

}  // namespace weft
