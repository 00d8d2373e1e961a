#include "addon.h"

#include "gpu/device-memory.h"
#include "memory/memory.h"

namespace {

Napi::Object init(Napi::Env env, Napi::Object exports) {
  exports.Set("Memory", weft::Memory::define(env));
  exports.Set("DeviceMemory", weft::DeviceMemoryObject::define(env));
  weft::defineGpu(env, exports);
  weft::defineInfo(env, exports);
  weft::defineProcess(env, exports);
  weft::defineProcessManager(env, exports);
  weft::definePort(env, exports);
  weft::defineQueue(env, exports);
  weft::defineIpc(env, exports);
  weft::defineTransferBoard(env, exports);
  weft::defineOwnKernel(env, exports);
  weft::defineTokenKernel(env, exports);
  weft::definePeer(env, exports);
  weft::defineSequence(env, exports);
  weft::defineNumbers(env, exports);
  weft::defineBlockCopy(env, exports);
  return exports;
}

}  // namespace

NODE_API_MODULE(weft, init)
