#pragma once
// What JavaScript and an endpoint tell each other.
#include <napi.h>

#include <vector>

#include "fabric/port.h"

namespace weft {

EndpointOptions readEndpointOptions(const Napi::Object& from);

/// One address for each rank. Throws a TypeError where there are more than immediates can name.
std::vector<std::vector<uint8_t>> readAddresses(const Napi::Value& from);

Napi::Object limitsOf(Napi::Env env, const Endpoint& endpoint);

}  // namespace weft
