// What a rank does to its own process: die with its parent, stay on its cores.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "addon.h"
#include "binding.h"

namespace weft {

namespace {

Napi::Value endWithParent(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto parent = static_cast<pid_t>(size(info[0], "parentPid"));
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) throwErrno("prctl");
    // The parent may have gone before the call above: then nobody will ever signal us.
    return Napi::Boolean::New(info.Env(), getppid() == parent);
  });
}

Napi::Value pinToCores(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto cores = list(info[0], "cores", CPU_SETSIZE);
    cpu_set_t set;
    CPU_ZERO(&set);
    for (uint32_t i = 0; i < cores.Length(); i++) {
      size_t core = size(cores.Get(i), "core");
      if (core >= CPU_SETSIZE) throw Fault("sched_setaffinity", EINVAL, "core numbers end at 1023");
      CPU_SET(core, &set);
    }
    if (sched_setaffinity(0, sizeof(set), &set) != 0) throwErrno("sched_setaffinity");
    return info.Env().Undefined();
  });
}

Napi::Value allowedCores(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) != 0) throwErrno("sched_getaffinity");
    auto cores = Napi::Array::New(info.Env());
    for (int core = 0; core < CPU_SETSIZE; core++) {
      if (CPU_ISSET(core, &set)) cores.Set(cores.Length(), core);
    }
    return cores;
  });
}

}  // namespace

void defineProcess(Napi::Env env, Napi::Object exports) {
  exports.Set("endWithParent", Napi::Function::New<endWithParent>(env));
  exports.Set("pinToCores", Napi::Function::New<pinToCores>(env));
  exports.Set("allowedCores", Napi::Function::New<allowedCores>(env));
}

}  // namespace weft
