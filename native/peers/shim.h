#pragma once
// What the shims share.
#include <cstdio>
#include <exception>
#include <string>

#include "../clock.h"
#include "peer.h"

#define WEFT_PEER_EXPORT extern "C" __attribute__((visibility("default")))

namespace weft::peers {

inline double nanosecondsNow() { return static_cast<double>(monotonicNanoseconds()); }

inline void say(char* error, const std::string& text) {
  std::snprintf(error, WEFT_PEER_ERROR_BYTES, "%s", text.c_str());
}

/// No exception leaves a shim: what `body` throws becomes the error, and `otherwise` is returned.
template <typename Body, typename Result>
Result guarded(char* error, Result otherwise, Body&& body) {
  try {
    return body();
  } catch (const std::exception& caught) {
    say(error, caught.what());
  } catch (...) {
    say(error, "an unknown exception");
  }
  return otherwise;
}

}  // namespace weft::peers
