#include "region-binding.h"

#include <optional>

#include "binding.h"
#include "task.h"

namespace weft {

std::vector<uint64_t> readKeys(const Napi::Value& from, const Port& port) {
  auto wanted = list(from, "keys", port.endpointCount());
  std::vector<uint64_t> keys(wanted.Length());
  for (uint32_t i = 0; i < wanted.Length(); i++) keys[i] = bits(wanted.Get(i), "a key");
  return keys;
}

Napi::Object granted(Napi::Env env, Port& port, uint32_t id) {
  Region& region = port.region(id);
  auto keys = Napi::Array::New(env, region.mr.size());
  for (uint32_t i = 0; i < region.mr.size(); i++) keys.Set(i, Napi::BigInt::New(env, fi_mr_key(region.mr[i])));
  auto result = Napi::Object::New(env);
  result.Set("id", id);
  result.Set("keys", keys);
  return result;
}

RemoteRegion readRemote(const Napi::Value& addresses, const Napi::Value& keys, const Port& port) {
  size_t endpoints = port.endpointCount();
  auto allAddresses = list(addresses, "addresses", endpoints), allKeys = list(keys, "keys", endpoints);
  if (allAddresses.Length() != endpoints || allKeys.Length() != endpoints) {
    throw Napi::TypeError::New(keys.Env(), "a remote region needs an address and a key for every channel");
  }
  RemoteRegion remote;
  for (uint32_t i = 0; i < endpoints; i++) {
    remote.address.push_back(bits(allAddresses.Get(i), "an address"));
    remote.key.push_back(bits(allKeys.Get(i), "a key"));
  }
  return remote;
}

Napi::Value LaterRegion::start(Napi::Env env, Port& port, Span memory, std::vector<uint64_t> keys,
                               std::function<void()> onEnd) {
  auto over = std::make_shared<std::promise<void>>();
  auto work = [over, &port, memory = std::move(memory), keys = std::move(keys),
               onEnd = std::move(onEnd)](const std::atomic<bool>&) -> TaskResult {
    std::optional<Fault> fault;
    uint32_t id = 0;
    try {
      id = port.addRegion(memory, keys, -1);
    } catch (const std::exception& caught) {
      fault = toFault(caught, "port");
    }
    over->set_value();
    return [&port, id, fault, onEnd](Napi::Env env) -> Napi::Value {
      onEnd();
      if (fault) throw toError(env, *fault);
      return granted(env, port, id);
    };
  };
  auto done = Task::start(env, std::move(work)).Get("done");
  over_ = over->get_future();
  return done;
}

}  // namespace weft
