// A library that Weft is compared with, as JavaScript sees it: opened at run time through the interface of
// peers/peer.h, driven from a thread of its own.
#include <dlfcn.h>

#include <vector>

#include "../addon.h"
#include "../binding.h"
#include "../memory/memory.h"
#include "../signal-guard.h"
#include "nccl.h"
#include "peer-thread.h"
#include "peer.h"

namespace weft {

namespace {

/// For the life of the process: MPI and its plug-ins do not survive being unloaded.
const weft_peer_table& load(const std::string& path) {
  SignalGuard guard;
  // Global: Open MPI's plug-ins look for its symbols among those of the process.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!handle) throw Fault("dlopen", ENOENT, dlerror());
  auto entry = reinterpret_cast<weft_peer_entry>(dlsym(handle, "weft_peer"));
  const weft_peer_table* table = entry ? entry() : nullptr;
  if (!table || table->interfaceVersion != WEFT_PEER_INTERFACE) {
    throw Fault("dlsym", ENOEXEC, path + " was built for another version of Weft");
  }
  return *table;
}

/// What the thread works on. JavaScript's object and the jobs under way share it.
struct PeerState {
  const weft_peer_table* table = nullptr;
  void* peer = nullptr;

  void* opened() const {
    if (!peer) throw Fault("peer", EBADF, "the peer is not open");
    return peer;
  }
};

using Error = char[WEFT_PEER_ERROR_BYTES];

std::vector<uint64_t> sizesOf(const Napi::Value& value) {
  auto numbers = value.As<Napi::Float64Array>();
  return {numbers.Data(), numbers.Data() + numbers.ElementLength()};
}

uint64_t sum(const std::vector<uint64_t>& sizes) {
  uint64_t total = 0;
  for (uint64_t bytes : sizes) total += bytes;
  return total;
}

class Peer : public Napi::ObjectWrap<Peer> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Peer",
                       {
                           InstanceMethod<&Peer::open>("open"),
                           InstanceMethod<&Peer::connect>("connect"),
                           InstanceMethod<&Peer::exchange>("exchange"),
                           InstanceMethod<&Peer::close>("close"),
                           InstanceAccessor<&Peer::version>("version"),
                       });
  }

  // (path, kind): a shim of peers/, or "nccl" for the library itself.
  explicit Peer(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Peer>(info) {
    guarded(info.Env(), [&] {
      auto path = info[0].As<Napi::String>().Utf8Value();
      bool isNccl = info[1].As<Napi::String>().Utf8Value() == "nccl";
      state_->table = isNccl ? &openNccl(path) : &load(path);
      thread_ = PeerThread::start(info.Env());
    });
  }

  ~Peer() {
    if (thread_) thread_->stop();
  }

 private:
  Napi::Value version(const Napi::CallbackInfo& info) {
    char text[256] = "";
    state_->table->version(text, sizeof(text));
    return Napi::String::New(info.Env(), text);
  }

  // (setup): the address of this rank.
  Napi::Value open(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      auto given = info[0].As<Napi::Object>();
      auto number = [&](const char* name) { return size(given.Get(name), name); };
      weft_peer_setup setup = {};
      setup.rank = static_cast<int>(number("rank"));
      setup.size = static_cast<int>(number("size"));
      setup.gpu = static_cast<int>(number("gpu"));
      setup.timeoutMs = number("timeoutMs");
      setup.sourceBytes = number("sourceBytes");
      setup.targetBytes = number("targetBytes");
      setup.elementBytes = static_cast<uint32_t>(number("elementBytes"));
      auto interface = given.Get("networkInterface").As<Napi::String>().Utf8Value();
      return thread_->run(info.Env(), [state = state_, setup, interface]() mutable -> PeerThread::Result {
        SignalGuard guard;
        Error error = "";
        setup.networkInterface = interface.c_str();
        state->peer = state->table->open(&setup, error);
        if (!state->peer) throw Fault("open", EIO, error);
        const char* bytes = nullptr;
        size_t length = 0;
        state->table->address(state->peer, &bytes, &length);
        std::string address(bytes, length);
        return [address](Napi::Env env) -> Napi::Value {
          return Napi::Buffer<char>::Copy(env, address.data(), address.size());
        };
      });
    });
  }

  // (addresses of all ranks)
  Napi::Value connect(const Napi::CallbackInfo& info) {
    auto list = info[0].As<Napi::Array>();
    std::vector<std::string> addresses;
    for (uint32_t i = 0; i < list.Length(); i++) {
      auto bytes = list.Get(i).As<Napi::Uint8Array>();
      addresses.emplace_back(reinterpret_cast<const char*>(bytes.Data()), bytes.ByteLength());
    }
    return thread_->run(info.Env(), [state = state_, addresses]() -> PeerThread::Result {
      std::vector<const char*> starts;
      std::vector<size_t> lengths;
      for (const auto& address : addresses) {
        starts.push_back(address.data());
        lengths.push_back(address.size());
      }
      Error error = "";
      if (state->table->connect(state->opened(), starts.data(), lengths.data(), error) != 0) {
        throw Fault("connect", EIO, error);
      }
      return {};
    });
  }

  // (source, target, bytes to each rank, bytes from each rank, uniform): nanoseconds.
  Napi::Value exchange(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      auto source = Memory::Unwrap(info[0].As<Napi::Object>())->mapping();
      auto target = Memory::Unwrap(info[1].As<Napi::Object>())->mapping();
      auto sends = sizesOf(info[2]), receives = sizesOf(info[3]);
      bool uniform = info[4].As<Napi::Boolean>().Value();
      if (!source || !target || sum(sends) > source->bytes() || sum(receives) > target->bytes()) {
        throw Fault("exchange", ERANGE, "the blocks are larger than the buffers");
      }
      return thread_->run(info.Env(), [=, state = state_]() -> PeerThread::Result {
        weft_peer_blocks blocks = {source->data(), target->data(), sends.data(), receives.data(), uniform};
        Error error = "";
        double nanoseconds = 0;
        if (state->table->exchange(state->opened(), &blocks, &nanoseconds, error) != 0) {
          throw Fault("exchange", EIO, error);
        }
        return [nanoseconds](Napi::Env env) -> Napi::Value { return Napi::Number::New(env, nanoseconds); };
      });
    });
  }

  Napi::Value close(const Napi::CallbackInfo& info) {
    auto promise = thread_->run(info.Env(), [state = state_]() -> PeerThread::Result {
      if (state->peer) state->table->close(state->peer);
      state->peer = nullptr;
      return {};
    });
    thread_->stop();
    return promise;
  }

  std::shared_ptr<PeerState> state_ = std::make_shared<PeerState>();
  std::shared_ptr<PeerThread> thread_;
};

}  // namespace

void definePeer(Napi::Env env, Napi::Object exports) { exports.Set("Peer", Peer::define(env)); }

}  // namespace weft
