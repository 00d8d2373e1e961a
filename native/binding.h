#pragma once
#include <napi.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "fault.h"
#include "memory/pattern.h"

namespace weft {

/// Turns a Fault into a JavaScript error with `operation`, `code` and `text`.
inline Napi::Error toError(Napi::Env env, const Fault& fault) {
  auto error = Napi::Error::New(env, fault.what());
  error.Set("operation", Napi::String::New(env, fault.operation));
  error.Set("code", Napi::Number::New(env, fault.code));
  error.Set("text", Napi::String::New(env, fault.text));
  return error;
}

/// For everything that JavaScript calls: Node ends the process where any other exception reaches it.
template <typename Body>
auto guarded(Napi::Env env, Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const Napi::Error&) {
    throw;
  } catch (const std::exception& caught) {
    throw toError(env, toFault(caught, "arguments"));
  }
}

/// Settles a promise, on JavaScript's thread, with what `make` returns or throws.
template <typename Make>
void settleWith(Napi::Promise::Deferred& deferred, Napi::Env env, Make&& make) {
  try {
    deferred.Resolve(guarded(env, make));
  } catch (const Napi::Error& error) {
    deferred.Reject(error.Value());
  }
}

/// A whole number from 0 to 2^53 - 1, or a TypeError: no other value may reach an address or a length.
inline size_t size(Napi::Env env, double number, const char* name) {
  if (!(number >= 0 && number <= 9007199254740991.0) || number != std::floor(number)) {
    throw Napi::TypeError::New(env, std::string(name) + " must be a whole number, 0 or more");
  }
  return static_cast<size_t>(number);
}
inline size_t size(const Napi::Value& value, const char* name) {
  return size(value.Env(), value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1, name);
}

/// The elements of a typed array of this very type, or a TypeError: the bytes of another would be read past their end.
template <typename Array>
Array typedArray(const Napi::Value& value, napi_typedarray_type type, const char* typeName, const char* name) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) {
    throw Napi::TypeError::New(value.Env(), std::string(name) + " must be a " + typeName);
  }
  return value.As<Array>();
}

inline Napi::Float64Array doubles(const Napi::Value& value, const char* name) {
  return typedArray<Napi::Float64Array>(value, napi_float64_array, "Float64Array", name);
}
inline Napi::Uint32Array words(const Napi::Value& value, const char* name) {
  return typedArray<Napi::Uint32Array>(value, napi_uint32_array, "Uint32Array", name);
}
inline Napi::Uint8Array octets(const Napi::Value& value, const char* name) {
  return typedArray<Napi::Uint8Array>(value, napi_uint8_array, "Uint8Array", name);
}

/// An array of at most `most` values, or a TypeError: an empty one may say that it has 2^32 of them.
inline Napi::Array list(const Napi::Value& value, const char* name, size_t most) {
  if (!value.IsArray() || value.As<Napi::Array>().Length() > most) {
    throw Napi::TypeError::New(value.Env(), std::string(name) + " must be an array of at most " + std::to_string(most) + " values");
  }
  return value.As<Napi::Array>();
}

/// A BigInt of 64 bits, or a TypeError.
inline uint64_t bits(const Napi::Value& value, const char* name) {
  bool lossless = false;
  uint64_t number = value.IsBigInt() ? value.As<Napi::BigInt>().Uint64Value(&lossless) : 0;
  if (!lossless) throw Napi::TypeError::New(value.Env(), std::string(name) + " must be a BigInt of 64 bits");
  return number;
}

inline size_t field(const Napi::Object& object, const char* name) { return size(object.Get(name), name); }

inline std::string text(const char* value) { return value ? value : ""; }

inline Napi::Float64Array toArray(Napi::Env env, const std::vector<double>& values) {
  auto array = Napi::Float64Array::New(env, values.size());
  std::copy(values.begin(), values.end(), array.Data());
  return array;
}

inline Napi::Value toObject(Napi::Env env, const Mismatch& mismatch) {
  auto object = Napi::Object::New(env);
  object.Set("wrong", static_cast<double>(mismatch.wrong));
  object.Set("offset", static_cast<double>(mismatch.offset));
  object.Set("expected", mismatch.expected);
  object.Set("found", mismatch.found);
  return object;
}

}  // namespace weft
