#pragma once
#include <napi.h>

#include "binding.h"

namespace weft {

template <typename Self, int32_t (Self::*Body)(uint32_t)>
napi_value callHot(napi_env env, napi_callback_info info) {
  napi_value arguments[1], result = nullptr;
  size_t count = 1;
  void* self = nullptr;
  uint32_t argument = 0;
  napi_get_cb_info(env, info, &count, arguments, nullptr, &self);
  if (count > 0) napi_get_value_uint32(env, arguments[0], &argument);
  try {
    int32_t number = guarded(env, [&] { return (static_cast<Self*>(self)->*Body)(argument); });
    napi_create_int32(env, number, &result);
  } catch (const Napi::Error& error) {
    error.ThrowAsJavaScriptException();
  }
  return result;
}

/// Gives the object that `info` constructs a method that is called between every two messages: a bare callback with a
/// data pointer costs a quarter of a wrapped method. The function keeps the object, whose pointer it has.
template <typename Self, int32_t (Self::*Body)(uint32_t)>
void setHotMethod(Self* self, const Napi::CallbackInfo& info, const char* name) {
  napi_value function = nullptr;
  napi_create_function(info.Env(), name, NAPI_AUTO_LENGTH, callHot<Self, Body>, self, &function);
  if (!function) throw Napi::Error::New(info.Env());
  Napi::Function(info.Env(), function).Set("owner", info.This());
  info.This().As<Napi::Object>().Set(name, function);
}

}  // namespace weft
