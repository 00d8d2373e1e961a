// Tells every process of an MPI launcher one string of rank 0's, through the launcher itself: PMI-1 (MPICH's hydra) or
// PMIx (Open MPI). All processes of the job call it together; it returns when all have come.
#include <dlfcn.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>

#include "addon.h"
#include "signal-guard.h"
#include "task.h"

namespace weft {

namespace {

using Clock = std::chrono::steady_clock;

/// PMI-1 over the socket that hydra's proxy left us: one line out, one line back. MPI may use the same socket later, so
/// nothing of it is changed and no byte more than the answer is read.
class PmiLine {
 public:
  PmiLine(int fd, Clock::time_point deadline, const std::atomic<bool>& aborted)
      : fd_(fd), deadline_(deadline), aborted_(aborted) {}

  /// The answer to `request`, whose name must be `expected`.
  std::string ask(const std::string& request, const std::string& expected) {
    std::string line = request + "\n";
    for (size_t sent = 0; sent < line.size();) {
      ssize_t count = send(fd_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
      if (count < 0 && errno != EINTR) throwErrno("PMI");
      if (count > 0) sent += static_cast<size_t>(count);
    }
    std::string answer = receive();
    auto failed = valueOf(answer, "rc");
    if (valueOf(answer, "cmd") == expected && (failed.empty() || failed == "0")) return answer;
    throw Fault("PMI", EPROTO, "mpiexec answered \"" + answer + "\" to \"" + request + "\"");
  }

  static std::string valueOf(const std::string& line, const std::string& key) {
    size_t at = (" " + line).find(" " + key + "=");
    if (at == std::string::npos) return "";
    size_t from = at + key.size() + 1;
    return line.substr(from, line.find(' ', from) - from);
  }

 private:
  std::string receive() {
    std::string line;
    for (char byte = 0;;) {
      pollfd wanted{fd_, POLLIN, 0};
      if (poll(&wanted, 1, 50) == 0) {
        if (aborted_.load()) throw Fault("PMI", ECANCELED, "aborted");
        if (Clock::now() > deadline_) throw Fault("PMI", ETIMEDOUT, "not all ranks of the job came");
        continue;
      }
      ssize_t count = recv(fd_, &byte, 1, MSG_DONTWAIT);
      if (count == 0) throw Fault("PMI", ECONNRESET, "mpiexec closed its connection");
      if (count < 0 && errno != EAGAIN && errno != EINTR) throwErrno("PMI");
      if (count < 0) continue;
      if (byte == '\n') return line;
      line += byte;
      if (line.size() > 8192) throw Fault("PMI", EPROTO, "the answer is too long");
    }
  }

  int fd_;
  Clock::time_point deadline_;
  const std::atomic<bool>& aborted_;
};

std::string exchangeByPmi(PmiLine line, const std::string& key, const std::string& value) {
  line.ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
  auto space = PmiLine::valueOf(line.ask("cmd=get_my_kvsname", "my_kvsname"), "kvsname");
  auto at = " kvsname=" + space + " key=" + key;
  if (!value.empty()) line.ask("cmd=put" + at + " value=" + value, "put_result");
  line.ask("cmd=barrier_in", "barrier_out");
  return PmiLine::valueOf(line.ask("cmd=get" + at, "get_result"), "value");
}

/// As the PMIx standard lays them out; Weft is not compiled against PMIx. A value is at most a word and three pointers.
struct PmixProcess {
  char space[256];
  uint32_t rank;
};
struct PmixValue {
  uint16_t type;
  char* text;
  void* rest[6];
};
/// How long hydra may take to answer a goodbye.
constexpr std::chrono::seconds kGoodbye{2};
constexpr uint16_t kPmixString = 3;
constexpr uint8_t kPmixGlobal = 3;
constexpr uint32_t kPmixAllRanks = UINT32_MAX - 1;

template <typename Function>
Function symbol(void* library, const char* name) {
  auto found = reinterpret_cast<Function>(dlsym(library, name));
  if (!found) throw Fault("dlopen", ENOENT, std::string("PMIx has no ") + name);
  return found;
}

void check(int status, const char* operation) {
  if (status != 0) throw Fault(operation, EPROTO, "PMIx error " + std::to_string(status));
}

using PmixFinalize = int (*)(const void*, size_t);
/// Set while PMIx is open. MPI opens it again within that time, which PMIx counts, but cannot after its end.
std::atomic<PmixFinalize> pmixFinalize{nullptr};

std::string exchangeByPmix(const std::string& path, const std::string& key, const std::string& value) {
  SignalGuard guard;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // for the life of the process: it has threads
  if (!library) throw Fault("dlopen", ENOENT, dlerror());
  auto init = symbol<int (*)(PmixProcess*, void*, size_t)>(library, "PMIx_Init");
  auto put = symbol<int (*)(uint8_t, const char*, PmixValue*)>(library, "PMIx_Put");
  auto commit = symbol<int (*)()>(library, "PMIx_Commit");
  auto fence = symbol<int (*)(const PmixProcess*, size_t, const void*, size_t)>(library, "PMIx_Fence");
  auto get = symbol<int (*)(const PmixProcess*, const char*, const void*, size_t, PmixValue**)>(library, "PMIx_Get");
  PmixProcess self{};
  check(init(&self, nullptr, 0), "PMIx_Init");
  pmixFinalize = symbol<PmixFinalize>(library, "PMIx_Finalize");
  // PMIx copies keys of a fixed length.
  char name[512] = {};
  key.copy(name, sizeof(name) - 1);
  if (!value.empty()) {
    PmixValue given{};
    given.type = kPmixString;
    given.text = const_cast<char*>(value.c_str());
    check(put(kPmixGlobal, name, &given), "PMIx_Put");
    check(commit(), "PMIx_Commit");
  }
  PmixProcess who = self;
  who.rank = kPmixAllRanks;
  check(fence(&who, 1, nullptr, 0), "PMIx_Fence");
  who.rank = 0;
  PmixValue* found = nullptr;
  check(get(&who, name, nullptr, 0, &found), "PMIx_Get");
  if (!found || found->type != kPmixString || !found->text) throw Fault("PMIx_Get", EPROTO, "not a string");
  return found->text;  // the value itself stays PMIx's: 64 bytes a job
}

TaskResult asText(const std::string& text) {
  return [text](Napi::Env env) -> Napi::Value { return Napi::String::New(env, text); };
}

// (fd, key, value or "", timeoutMs)
Napi::Value pmiExchange(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    int fd = static_cast<int>(size(info[0], "fd"));
    auto key = info[1].As<Napi::String>().Utf8Value();
    auto value = info[2].As<Napi::String>().Utf8Value();
    auto deadline = Clock::now() + std::chrono::milliseconds(size(info[3], "timeoutMs"));
    return Task::start(info.Env(), [=](const std::atomic<bool>& aborted) {
      return asText(exchangeByPmi(PmiLine(fd, deadline, aborted), key, value));
    });
  });
}

// (path, key, value or ""): has no deadline of its own
Napi::Value pmixExchange(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto path = info[0].As<Napi::String>().Utf8Value();
    auto key = info[1].As<Napi::String>().Utf8Value();
    auto value = info[2].As<Napi::String>().Utf8Value();
    return Task::start(info.Env(), [=](const std::atomic<bool>&) { return asText(exchangeByPmix(path, key, value)); });
  });
}

// (fd): true when mpiexec has heard it. Its proxy fails when it answers a process that has gone already.
Napi::Value leavePmi(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    int fd = static_cast<int>(size(info[0], "fd"));
    std::atomic<bool> aborted{false};
    try {
      PmiLine(fd, Clock::now() + kGoodbye, aborted).ask("cmd=finalize", "finalize_ack");
      return Napi::Boolean::New(info.Env(), true);
    } catch (const Fault&) {
      return Napi::Boolean::New(info.Env(), false);
    }
  });
}

/// mpirun counts a process as failed that ends between opening and closing PMIx.
Napi::Value leavePmix(const Napi::CallbackInfo& info) {
  if (auto finalize = pmixFinalize.exchange(nullptr)) finalize(nullptr, 0);
  return info.Env().Undefined();
}

}  // namespace

void defineProcessManager(Napi::Env env, Napi::Object exports) {
  exports.Set("pmiExchange", Napi::Function::New<pmiExchange>(env));
  exports.Set("leavePmi", Napi::Function::New<leavePmi>(env));
  exports.Set("pmixExchange", Napi::Function::New<pmixExchange>(env));
  exports.Set("leavePmix", Napi::Function::New<leavePmix>(env));
}

}  // namespace weft
