// The port as JavaScript sees it.
#include <algorithm>

#include "addon.h"
#include "binding.h"
#include "endpoint-binding.h"
#include "fabric/close-port.h"
#include "fabric/operations.h"
#include "hot-method.h"
#include "live-objects.h"
#include "plan-run.h"
#include "region-binding.h"

namespace weft {

class PortBinding : public Napi::ObjectWrap<PortBinding> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Port",
                       {
                           InstanceMethod<&PortBinding::open>("open"),
                           InstanceMethod<&PortBinding::name>("name"),
                           InstanceMethod<&PortBinding::limits>("limits"),
                           InstanceMethod<&PortBinding::connect>("connect"),
                           InstanceMethod<&PortBinding::addRegion>("addRegion"),
                           InstanceMethod<&PortBinding::addRegionLater>("addRegionLater"),
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
    guarded(info.Env(), [&] {
      commandArray_ = Napi::Persistent(doubles(info[0], "the command array"));
      recordArray_ = Napi::Persistent(words(info[1], "the record array"));
      auto command = commandArray_.Value();
      auto records = recordArray_.Value();
      if (command.ElementLength() < Operations::kCommandWords || records.ElementLength() < Operations::kRecordWords) {
        throw Napi::TypeError::New(info.Env(), "the command or record array is too small");
      }
      operations_ = std::make_unique<Operations>(command.Data(), records.Data(), records.ElementLength());
      setHotMethod<PortBinding, &PortBinding::post>(this, info, "post");
      setHotMethod<PortBinding, &PortBinding::poll>(this, info, "poll");
      // Last: an object whose constructor throws is never removed.
      LiveObjects<PortBinding>::all().add(this);
    });
  }

  ~PortBinding() override {
    LiveObjects<PortBinding>::all().remove(this);
    if (run_) run_->end();  // threads end before the port goes
    registering_.wait();
    closePort();
  }

  /// Else shared-memory segments would outlive the process. A port whose plan still runs is left to the sweep of stale
  /// segments.
  void atExit() {
    if (port_ && !port_->busy.load()) closePort();
  }

 private:
  Port& port() {
    if (!port_) throw Fault("port", EBADF, "the fabric is closed");
    if (port_->busy.load(std::memory_order_relaxed)) throw Fault("port", EBUSY, "a plan is running, or a buffer is being registered");
    return *port_;
  }

  Napi::Value open(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      if (!info[0].IsExternal()) throw Napi::TypeError::New(info.Env(), "not a handle of getInfo");
      auto* wanted = info[0].As<Napi::External<fi_info>>().Data();
      EndpointOptions options = readEndpointOptions(info[1].As<Napi::Object>());
      return Napi::Number::New(info.Env(), port().open(wanted, options));
    });
  }

  Napi::Value name(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      std::vector<uint8_t> name = port().name(endpoint(info[0]).index);
      auto result = Napi::Uint8Array::New(info.Env(), name.size());
      std::copy_n(name.data(), name.size(), result.Data());
      return result;
    });
  }

  Napi::Value limits(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value { return limitsOf(info.Env(), endpoint(info[0])); });
  }

  Napi::Value connect(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      auto everyone = readAddresses(info[2]);
      port().connect(endpoint(info[0]).index, static_cast<uint32_t>(size(info[1], "rank")), everyone);
      return info.Env().Undefined();
    });
  }

  Napi::Value addRegion(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      int dmabuf = info[2].IsNumber() ? info[2].As<Napi::Number>().Int32Value() : -1;
      return granted(info.Env(), port(), port().addRegion(spanOf(info[0]), readKeys(info[1], port()), dmabuf));
    });
  }

  // The same for host memory, on a thread of its own. The port is busy until its promise settles.
  Napi::Value addRegionLater(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      Port& target = port();
      auto end = [this] {
        port_->busy.store(false);
        Unref();
      };
      auto done = registering_.start(info.Env(), target, spanOf(info[0]), readKeys(info[1], target), end);
      Ref();
      target.busy.store(true);
      return done;
    });
  }

  Napi::Value removeRegion(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      return Napi::Boolean::New(info.Env(), port().removeRegion(static_cast<uint32_t>(size(info[0], "region"))));
    });
  }

  Napi::Value addRemote(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      return Napi::Number::New(info.Env(), port().addRemote(readRemote(info[0], info[1], port())));
    });
  }

  Napi::Value removeRemote(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      port().removeRemote(static_cast<uint32_t>(size(info[0], "remote")));
      return info.Env().Undefined();
    });
  }

  int32_t post(uint32_t) { return operations_->post(port()); }
  int32_t poll(uint32_t spins) { return operations_->poll(port(), spins); }

  Napi::Value cancel(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      return Napi::Boolean::New(info.Env(), operations_->cancel(port(), size(info[0], "operation")));
    });
  }

  Napi::Value takeText(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      auto text = operations_->takeText(info[0].As<Napi::Number>().Uint32Value());
      return text.empty() ? info.Env().Undefined() : Napi::String::New(info.Env(), text);
    });
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
      if (!broken_.empty()) throw Fault("port", EIO, "an earlier plan failed on this fabric: open a new one");
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
      return Napi::Boolean::New(info.Env(), closePort());
    });
  }

  /// False when the provider does not let go. What is in flight then outlives this object, and so must its owners.
  bool closePort() {
    if (!port_) return true;
    bool whole = broken_.empty() && !port_->busy.load();
    if (closeWithin(std::move(port_), std::chrono::seconds(whole ? 5 : 1))) return true;
    operations_.release();
    run_.release();
    for (auto& run : broken_) run.release();
    return false;
  }

  Endpoint& endpoint(const Napi::Value& index) {
    size_t wanted = size(index, "endpoint");
    if (wanted >= port().endpointCount()) throw Fault("port", EINVAL, "no such endpoint");
    return port().endpoint(static_cast<uint32_t>(wanted));
  }

  Napi::Reference<Napi::Float64Array> commandArray_;
  Napi::Reference<Napi::Uint32Array> recordArray_;
  std::unique_ptr<Operations> operations_;
  std::vector<std::unique_ptr<PlanRun>> broken_;
  std::unique_ptr<PlanRun> run_;
  LaterRegion registering_;
  std::unique_ptr<Port> port_ = std::make_unique<Port>();  // last, so that it goes before what is in flight on it
};

void definePort(Napi::Env env, Napi::Object exports) { exports.Set("Port", PortBinding::define(env)); }

}  // namespace weft
