// A library that Weft is compared with, as JavaScript sees it: opened at run time through the interface of
// peers/peer.h, driven from a thread of its own.
#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "../addon.h"
#include "../binding.h"
#include "../memory/memory.h"
#include "../signal-guard.h"
#include "../sizes.h"
#include "heap-reserve.h"
#include "nccl.h"
#include "peer-thread.h"
#include "peer.h"
#include "shim.h"

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
  int rank = 0, size = 0;

  void* opened() const {
    if (!peer) throw Fault("peer", EBADF, "the peer is not open");
    return peer;
  }
};

constexpr size_t kMostRanks = 32768;             // as fabrics have
constexpr uint64_t kMostBytes = uint64_t{1} << 48;  // of a block: no sum over all ranks overflows

using Error = char[WEFT_PEER_ERROR_BYTES];

std::vector<uint64_t> sizesOf(const Napi::Value& value) {
  auto numbers = doubles(value, "sizes");
  std::vector<uint64_t> sizes;
  for (size_t i = 0; i < numbers.ElementLength(); i++) sizes.push_back(size(value.Env(), numbers[i], "a size"));
  return sizes;
}

class Peer : public Napi::ObjectWrap<Peer> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Peer",
                       {
                           InstanceMethod<&Peer::open>("open"),
                           InstanceMethod<&Peer::connect>("connect"),
                           InstanceMethod<&Peer::run>("run"),
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
      size_t ranks = number("size"), rank = number("rank");
      if (ranks > kMostRanks || rank >= ranks) throw Fault("open", EINVAL, "a group has 1 to 32768 ranks, and this is not one of them");
      setup.rank = static_cast<int>(rank);
      setup.size = static_cast<int>(ranks);
      setup.gpu = static_cast<int>(number("gpu"));
      setup.timeoutMs = number("timeoutMs");
      setup.sourceBytes = number("sourceBytes");
      setup.targetBytes = number("targetBytes");
      auto interface = given.Get("networkInterface").As<Napi::String>().Utf8Value();
      state_->rank = setup.rank;
      state_->size = setup.size;
      reserveHeap();
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
    return guarded(info.Env(), [&]() -> Napi::Value {
      auto addresses = readAddresses(info[0]);
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
    });
  }

  // Libraries read one for each rank.
  std::vector<std::string> readAddresses(const Napi::Value& from) const {
    auto ranks = static_cast<uint32_t>(state_->size);
    auto given = list(from, "addresses", ranks);
    if (given.Length() != ranks) {
      throw Napi::TypeError::New(from.Env(), "addresses must be an array of " + std::to_string(ranks) + " values");
    }
    std::vector<std::string> addresses;
    for (uint32_t i = 0; i < ranks; i++) {
      auto bytes = octets(given.Get(i), "an address");
      addresses.emplace_back(reinterpret_cast<const char*>(bytes.Data()), bytes.ByteLength());
    }
    return addresses;
  }

  // (source, target, collective, iterations, batch): nanoseconds of each batch.
  Napi::Value run(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      auto source = Memory::mappingOf(info[0]), target = Memory::mappingOf(info[1]);
      auto given = info[2].As<Napi::Object>();
      uint64_t iterations = size(info[3], "iterations"), batch = size(info[4], "batch");
      if (batch == 0 || iterations % batch != 0) throw Fault("run", EINVAL, "the batch does not divide the iterations");
      checkSamples("run", iterations / batch);
      auto sends = sizesOf(given.Get("sendBytes")), receives = sizesOf(given.Get("receiveBytes"));
      weft_peer_collective one = {};
      one.kind = static_cast<weft_peer_kind>(field(given, "kind"));
      one.type = static_cast<weft_peer_type>(field(given, "type"));
      one.elementBytes = static_cast<uint32_t>(field(given, "elementBytes"));
      one.bytes = field(given, "bytes");
      one.root = static_cast<int>(field(given, "root"));
      one.uniform = given.Get("uniform").As<Napi::Boolean>().Value();
      one.sendBytes = sends.data();
      one.receiveBytes = receives.data();
      refuseBadSizes(one, sends, receives);
      auto [sourceBytes, targetBytes] = peers::footprintOf(one, state_->rank, state_->size);
      if (sourceBytes > source->bytes() || targetBytes > target->bytes()) {
        throw Fault("run", ERANGE, "the blocks are larger than the buffers");
      }
      return thread_->run(info.Env(), [=, state = state_]() mutable -> PeerThread::Result {
        one.source = source->data();
        one.target = target->data();
        one.sendBytes = sends.data();
        one.receiveBytes = receives.data();
        Error error = "";
        std::vector<double> times(iterations / batch);
        if (state->table->run(state->opened(), &one, iterations, batch, times.data(), error) != 0) {
          throw Fault("run", EIO, error);
        }
        return [times](Napi::Env env) -> Napi::Value { return toArray(env, times); };
      });
    });
  }

  void refuseBadSizes(const weft_peer_collective& one, const std::vector<uint64_t>& sends,
                      const std::vector<uint64_t>& receives) {
    size_t blocks = one.kind == WEFT_PEER_ALLTOALLV ? static_cast<size_t>(state_->size) : 0;
    uint32_t element = one.elementBytes;
    bool sized = element == 1 || element == 2 || element == 4 || element == 8;
    auto fits = [&](uint64_t bytes) { return bytes % element == 0 && bytes < kMostBytes; };
    // Where all blocks are said to be of one size, gloo looks at the first only.
    auto allFit = [&](const std::vector<uint64_t>& sizes) {
      return std::all_of(sizes.begin(), sizes.end(), [&](uint64_t bytes) { return fits(bytes) && (!one.uniform || bytes == sizes[0]); });
    };
    bool whole = sized && fits(one.bytes) && allFit(sends) && allFit(receives);
    bool known = one.kind <= WEFT_PEER_BROADCAST && one.type <= WEFT_PEER_INT32;
    bool rooted = one.root >= 0 && one.root < state_->size;
    if (known && whole && rooted && sends.size() == blocks && receives.size() == blocks) return;
    throw Fault("run", EINVAL, "this is not a collective of this group");
  }

  Napi::Value close(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      if (thread_->stopped()) {
        auto closed = Napi::Promise::Deferred::New(info.Env());
        closed.Resolve(info.Env().Undefined());
        return closed.Promise();
      }
      auto promise = thread_->run(info.Env(), [state = state_]() -> PeerThread::Result {
        if (state->peer) state->table->close(state->peer);
        state->peer = nullptr;
        return {};
      });
      thread_->stop();
      return promise;
    });
  }

  std::shared_ptr<PeerState> state_ = std::make_shared<PeerState>();
  std::shared_ptr<PeerThread> thread_;
};

}  // namespace

void definePeer(Napi::Env env, Napi::Object exports) { exports.Set("Peer", Peer::define(env)); }

}  // namespace weft
