// The port as JavaScript drives it. Posting and polling take their arguments from, and leave their results in,
// two typed arrays shared with JavaScript: an empty call costs 20 ns, eight arguments another 70.
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>

#include "addon.h"
#include "binding.h"
#include "memory.h"
#include "plan-run.h"
#include "port.h"

namespace weft {

namespace {

constexpr unsigned kSpinsBeforeYield = 200;
constexpr size_t kRecordWords = 4;

// Indices into the command array; src/fabric/command.ts has the same list.
enum Command { Kind, EndpointIndex, Peer, RegionId, Offset, Bytes, Remote, RemoteOffset, Data, Flags, CommandWords };
enum Flag : uint32_t { HasData = 1, Delivered = 2 };
enum RecordKind : uint32_t { Done = 0, Failed = 1, Arrived = 2, EndpointFailed = 3 };

struct Record {
  uint32_t kind, id, low, high;
};

}  // namespace

class PortBinding : public Napi::ObjectWrap<PortBinding>, private Completer {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Port",
                       {
                           InstanceMethod<&PortBinding::open>("open"),
                           InstanceMethod<&PortBinding::name>("name"),
                           InstanceMethod<&PortBinding::insertPeers>("insertPeers"),
                           InstanceMethod<&PortBinding::addRegion>("addRegion"),
                           InstanceMethod<&PortBinding::removeRegion>("removeRegion"),
                           InstanceMethod<&PortBinding::addRemote>("addRemote"),
                           InstanceMethod<&PortBinding::removeRemote>("removeRemote"),
                           InstanceMethod<&PortBinding::cancel>("cancel"),
                           InstanceMethod<&PortBinding::takeText>("takeText"),
                           InstanceMethod<&PortBinding::shuffle>("shuffle"),
                           InstanceMethod<&PortBinding::run>("run"),
                           InstanceMethod<&PortBinding::abort>("abort"),
                           InstanceMethod<&PortBinding::close>("close"),
                       });
  }

  explicit PortBinding(const Napi::CallbackInfo& info) : Napi::ObjectWrap<PortBinding>(info) {
    commandArray_ = Napi::Persistent(info[0].As<Napi::Float64Array>());
    recordArray_ = Napi::Persistent(info[1].As<Napi::Uint32Array>());
    command_ = commandArray_.Value().Data();
    records_ = recordArray_.Value().Data();
    capacity_ = recordArray_.Value().ElementLength() / kRecordWords;
    if (commandArray_.Value().ElementLength() < CommandWords || capacity_ == 0) {
      throw Napi::TypeError::New(info.Env(), "the command or record array is too small");
    }
    live().add(this);
    setHot<&PortBinding::post>(info, "post");
    setHot<&PortBinding::poll>(info, "poll");
  }

  ~PortBinding() override { live().remove(this); }

 private:
  // process.exit() runs neither finalizers nor Node's clean-up hooks: without this list, shared-memory segments
  // would outlive the process. A port whose plan still runs is left to the sweep of stale segments.
  class Live {
   public:
    Live() { std::atexit([] { live().closeAll(); }); }
    void add(PortBinding* port) {
      std::lock_guard lock(gate_);
      ports_.insert(port);
    }
    void remove(PortBinding* port) {
      std::lock_guard lock(gate_);
      ports_.erase(port);
    }
    void closeAll() {
      std::lock_guard lock(gate_);
      for (auto* binding : ports_) {
        if (binding->port_ && !binding->port_->busy.load()) binding->port_.reset();
      }
    }

   private:
    std::mutex gate_;
    std::set<PortBinding*> ports_;
  };
  static Live& live() {
    static Live* list = new Live;  // never destroyed: exit handlers of other libraries may still run
    return *list;
  }

  // The two calls between every two messages: a bare callback with a data pointer costs a quarter of a wrapped method.
  template <int32_t (PortBinding::*Body)(uint32_t)>
  static napi_value hot(napi_env env, napi_callback_info info) {
    napi_value arguments[1], result = nullptr;
    size_t count = 1;
    void* self = nullptr;
    uint32_t argument = 0;
    napi_get_cb_info(env, info, &count, arguments, nullptr, &self);
    if (count > 0) napi_get_value_uint32(env, arguments[0], &argument);
    try {
      napi_create_int32(env, (static_cast<PortBinding*>(self)->*Body)(argument), &result);
    } catch (const Fault& fault) {
      toError(env, fault).ThrowAsJavaScriptException();
    }
    return result;
  }

  template <int32_t (PortBinding::*Body)(uint32_t)>
  void setHot(const Napi::CallbackInfo& info, const char* name) {
    napi_value function = nullptr;
    napi_create_function(info.Env(), name, NAPI_AUTO_LENGTH, hot<Body>, this, &function);
    if (!function) throw Napi::Error::New(info.Env());
    info.This().As<Napi::Object>().Set(name, function);
  }

  Port& port() {
    if (!port_) throw Fault("port", EBADF, "the fabric is closed");
    if (port_->busy.load(std::memory_order_relaxed)) throw Fault("port", EBUSY, "a plan is running");
    return *port_;
  }

  Napi::Value open(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      auto* wanted = info[0].As<Napi::External<fi_info>>().Data();
      return Napi::Number::New(info.Env(), port().open(wanted, info[1].ToBoolean(), size(info[2], "peers")));
    });
  }

  Napi::Value name(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      uint8_t buffer[512];
      size_t bytes = sizeof(buffer);
      check(fi_getname(&endpoint(info[0]).ep->fid, buffer, &bytes), "fi_getname");
      auto result = Napi::Uint8Array::New(info.Env(), bytes);
      std::copy_n(buffer, bytes, result.Data());
      return result;
    });
  }

  Napi::Value insertPeers(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      Endpoint& target = endpoint(info[0]);
      auto list = info[1].As<Napi::Array>();
      std::vector<fi_addr_t> peers(list.Length());
      for (uint32_t i = 0; i < list.Length(); i++) {
        auto address = list.Get(i).As<Napi::Uint8Array>();
        int inserted = fi_av_insert(target.av, address.Data(), 1, &peers[i], 0, nullptr);
        if (inserted != 1) {
          throw Fault("fi_av_insert", inserted < 0 ? -inserted : FI_EINVAL, "the address of rank " + std::to_string(i) + " was refused");
        }
      }
      target.peers = std::move(peers);
      return info.Env().Undefined();
    });
  }

  Napi::Value addRegion(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      auto mapping = Memory::Unwrap(info[0].As<Napi::Object>())->mapping();
      if (!mapping) throw Fault("region", EBADF, "the buffer is closed");
      auto wanted = info[1].As<Napi::Array>();
      std::vector<uint64_t> keys(wanted.Length());
      bool lossless = true;
      for (uint32_t i = 0; i < wanted.Length(); i++) keys[i] = wanted.Get(i).As<Napi::BigInt>().Uint64Value(&lossless);
      fi_mr_attr extra{};
      uint32_t id = port().addRegion(mapping, keys, extra);
      Region& region = port().region(id);
      auto granted = Napi::Array::New(info.Env(), region.mr.size());
      for (uint32_t i = 0; i < region.mr.size(); i++) granted.Set(i, Napi::BigInt::New(info.Env(), fi_mr_key(region.mr[i])));
      auto result = Napi::Object::New(info.Env());
      result.Set("id", id);
      result.Set("keys", granted);
      return result;
    });
  }

  Napi::Value removeRegion(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      return Napi::Boolean::New(info.Env(), port().removeRegion(static_cast<uint32_t>(size(info[0], "region"))));
    });
  }

  Napi::Value addRemote(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      RemoteRegion remote;
      bool lossless = true;
      auto addresses = info[0].As<Napi::Array>(), keys = info[1].As<Napi::Array>();
      if (addresses.Length() != port().endpointCount() || keys.Length() != port().endpointCount()) {
        throw Napi::TypeError::New(info.Env(), "a remote region needs an address and a key for every channel");
      }
      for (uint32_t i = 0; i < keys.Length(); i++) {
        remote.address.push_back(addresses.Get(i).As<Napi::BigInt>().Uint64Value(&lossless));
        remote.key.push_back(keys.Get(i).As<Napi::BigInt>().Uint64Value(&lossless));
      }
      return Napi::Number::New(info.Env(), port().addRemote(std::move(remote)));
    });
  }

  Napi::Value removeRemote(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      port().removeRemote(static_cast<uint32_t>(size(info[0], "remote")));
      return info.Env().Undefined();
    });
  }

  // Returns the operation's id, or -1 when it is complete already.
  int32_t post(uint32_t) {
    Port& target = port();
    Endpoint& nic = target.endpoint(static_cast<uint32_t>(command_[EndpointIndex]));
    Region& region = target.region(static_cast<uint32_t>(command_[RegionId]));
    auto offset = static_cast<size_t>(command_[Offset]), bytes = static_cast<size_t>(command_[Bytes]);
    if (offset > region.mapping->bytes() || bytes > region.mapping->bytes() - offset) {
      throw Fault("post", ERANGE, "the slice is outside its buffer");
    }
    auto peer = static_cast<uint32_t>(command_[Peer]);
    if (peer >= nic.peers.size()) throw Fault("post", EINVAL, "no such peer");

    uint32_t id = takeOperation();
    Operation& operation = operations_[id];
    auto flags = static_cast<uint32_t>(command_[Flags]);
    operation.kind = static_cast<OperationKind>(command_[Kind]);
    operation.endpoint = static_cast<uint32_t>(command_[EndpointIndex]);
    operation.peer = peer;
    operation.region = &region;
    operation.buffer = region.mapping->data() + offset;
    operation.bytes = bytes;
    operation.descriptor = region.descriptor[operation.endpoint];
    operation.hasData = flags & HasData;
    operation.delivered = flags & Delivered;
    operation.data = static_cast<uint32_t>(command_[Data]);
    try {
      if (operation.kind == OperationKind::Write) {
        const RemoteRegion& remote = target.remote(static_cast<uint32_t>(command_[Remote]));
        operation.remoteAddress = remote.address[operation.endpoint] + static_cast<uint64_t>(command_[RemoteOffset]);
        operation.remoteKey = remote.key[operation.endpoint];
      }
      if (!target.post(operation)) return static_cast<int32_t>(id);
    } catch (...) {
      free_.push_back(id);
      throw;
    }
    free_.push_back(id);
    return -1;
  }

  // Looks at the queues up to `spins` times, until there is something to tell. Returns the number of records.
  int32_t poll(uint32_t spins) {
    Port& target = port();
    for (unsigned i = 0; i < spins; i++) {
      size_t seen = target.drain();
      if (!pending_.empty() || !target.userArrivals.empty() || !target.faults.empty()) break;
      empty_ = seen > 0 ? 0 : empty_ + 1;
      if (empty_ >= kSpinsBeforeYield) sched_yield();
    }
    size_t count = 0;
    for (; count < capacity_ && !pending_.empty(); count++) {
      tell(count, pending_.front());
      free_.push_back(pending_.front().id);  // not before JavaScript knows: it keys its table by id
      pending_.pop_front();
    }
    for (; count < capacity_ && !target.userArrivals.empty(); count++) {
      Arrival arrival = target.userArrivals.front();
      tell(count, {Arrived, arrival.endpoint, arrival.data, 0});
      target.userArrivals.pop_front();
    }
    for (; count < capacity_ && !target.faults.empty(); count++) {
      PortFault& fault = target.faults.front();
      tell(count, {EndpointFailed, fault.endpoint, static_cast<uint32_t>(fault.code), keep(fault.text)});
      target.faults.pop_front();
    }
    if (count > 0) empty_ = 0;
    return static_cast<int32_t>(count);
  }

  Napi::Value cancel(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      port().cancel(operations_.at(size(info[0], "operation")));
      return info.Env().Undefined();
    });
  }

  Napi::Value takeText(const Napi::CallbackInfo& info) {
    auto found = texts_.find(info[0].As<Napi::Number>().Uint32Value());
    if (found == texts_.end()) return info.Env().Undefined();
    auto result = Napi::String::New(info.Env(), found->second);
    texts_.erase(found);
    return result;
  }

  // Tests only: completions come late and out of order from here on.
  Napi::Value shuffle(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      port().chaos = std::make_unique<Chaos>(size(info[0], "seed"), info[1].As<Napi::Number>().DoubleValue());
      return info.Env().Undefined();
    });
  }

  // Runs a plan on a thread of its own. Until its promise settles, that thread alone drives the port.
  Napi::Value run(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      Port& target = port();
      Ref();  // this object must not be collected while the thread uses it
      try {
        run_ = std::make_unique<PlanRun>(info[0].As<Napi::Object>(), target, [this](bool failed) {
          port_->busy.store(false);
          // What a failed run left in flight still points at it.
          if (failed) broken_.push_back(std::move(run_));
          Unref();
        });
      } catch (...) {
        Unref();
        throw;
      }
      target.busy.store(true);
      return run_->promise();
    });
  }

  // Ends the running plan soon, if there is one.
  Napi::Value abort(const Napi::CallbackInfo& info) {
    if (run_ && port_ && port_->busy.load()) run_->abort();
    return info.Env().Undefined();
  }

  Napi::Value close(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      if (port_) port();  // refuses while a plan runs
      port_.reset();
      return info.Env().Undefined();
    });
  }

  void completed(Operation& operation, uint64_t bytes) override {
    pending_.push_back({Done, operation.id, static_cast<uint32_t>(bytes), static_cast<uint32_t>(bytes >> 32)});
  }

  void failed(Operation& operation, int code, const std::string& text) override {
    pending_.push_back({Failed, operation.id, static_cast<uint32_t>(code), keep(text)});
  }

  Endpoint& endpoint(const Napi::Value& index) {
    size_t wanted = size(index, "endpoint");
    if (wanted >= port().endpointCount()) throw Fault("port", EINVAL, "no such endpoint");
    return port().endpoint(static_cast<uint32_t>(wanted));
  }

  uint32_t takeOperation() {
    if (free_.empty()) {
      operations_.emplace_back();
      auto id = static_cast<uint32_t>(operations_.size() - 1);
      operations_.back().id = id;
      operations_.back().completer = this;
      return id;
    }
    uint32_t id = free_.back();
    free_.pop_back();
    return id;
  }

  uint32_t keep(const std::string& text) {
    texts_.emplace(++nextText_, text);
    return nextText_;
  }

  void tell(size_t index, const Record& record) {
    uint32_t* out = records_ + index * kRecordWords;
    out[0] = record.kind;
    out[1] = record.id;
    out[2] = record.low;
    out[3] = record.high;
  }

  Napi::Reference<Napi::Float64Array> commandArray_;
  Napi::Reference<Napi::Uint32Array> recordArray_;
  double* command_;
  uint32_t* records_;
  size_t capacity_;
  unsigned empty_ = 0;
  std::deque<Operation> operations_;  // a deque: operations in flight must not move
  std::vector<uint32_t> free_;
  std::deque<Record> pending_;
  std::unordered_map<uint32_t, std::string> texts_;
  uint32_t nextText_ = 0;
  std::vector<std::unique_ptr<PlanRun>> broken_;
  std::unique_ptr<PlanRun> run_;
  std::unique_ptr<Port> port_ = std::make_unique<Port>();  // last: its operations are released first
};

void definePort(Napi::Env env, Napi::Object exports) { exports.Set("Port", PortBinding::define(env)); }

}  // namespace weft
