#include "endpoint-binding.h"

#include "binding.h"
#include "fabric/receive-pool.h"

namespace weft {

namespace {

constexpr size_t kMostRanks = 32768;  // 15 bits of an immediate name one

}  // namespace

EndpointOptions readEndpointOptions(const Napi::Object& from) {
  EndpointOptions options;
  options.directed = from.Get("directed").ToBoolean();
  options.acknowledged = from.Get("acknowledged").ToBoolean();
  options.peersExpected = field(from, "peersExpected");
  options.localShm = from.Get("localShm").ToBoolean();
  return options;
}

std::vector<std::vector<uint8_t>> readAddresses(const Napi::Value& from) {
  auto addresses = list(from, "addresses", kMostRanks);
  std::vector<std::vector<uint8_t>> everyone;
  for (uint32_t i = 0; i < addresses.Length(); i++) {
    auto address = octets(addresses.Get(i), "an address");
    everyone.emplace_back(address.Data(), address.Data() + address.ByteLength());
  }
  return everyone;
}

Napi::Object limitsOf(Napi::Env env, const Endpoint& endpoint) {
  auto result = Napi::Object::New(env);
  result.Set("maxMessageBytes", static_cast<double>(endpoint.maxMessageBytes));
  result.Set("maxWriteBytes", static_cast<double>(endpoint.maxWriteBytes));
  result.Set("receiveQueue", static_cast<double>(endpoint.pool ? endpoint.pool->size() : endpoint.receives.limit));
  result.Set("sorted", endpoint.pool != nullptr);
  if (endpoint.emulatedWrites) result.Set("emulatedWrites", *endpoint.emulatedWrites);
  return result;
}

}  // namespace weft
