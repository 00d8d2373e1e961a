// What GPUs there are. Makes no context: looking costs no GPU memory.
#include "../addon.h"
#include "../binding.h"
#include "cuda.h"
#include "cuda-owners.h"

namespace weft {

namespace {

/// 0 where the driver is too old to know the attribute.
int attribute(CuDevice device, cu::DeviceAttribute which) {
  int value = 0;
  return Cuda::get().cuDeviceGetAttribute(&value, which, device) == cu::kSuccess ? value : 0;
}

bool flag(CuDevice device, cu::DeviceAttribute which) { return attribute(device, which) != 0; }

Napi::Array peersOf(Napi::Env env, int index, CuDevice device) {
  const Cuda& cuda = Cuda::get();
  auto peers = Napi::Array::New(env);
  for (int other = 0; other < cuda.devices; other++) {
    CuDevice peer;
    int can = 0;
    if (other == index || cuda.cuDeviceGet(&peer, other) != cu::kSuccess) continue;
    if (cuda.cuDeviceCanAccessPeer(&can, device, peer) == cu::kSuccess && can) peers.Set(peers.Length(), other);
  }
  return peers;
}

Napi::Object describe(Napi::Env env, int index) {
  CuDevice device;
  WEFT_CU(cuDeviceGet, &device, index);
  char name[256] = {}, pci[32] = {};
  size_t bytes = 0;
  WEFT_CU(cuDeviceGetName, name, sizeof(name) - 1, device);
  WEFT_CU(cuDeviceGetPCIBusId, pci, sizeof(pci) - 1, device);
  WEFT_CU(cuDeviceTotalMem, &bytes, device);
  auto object = Napi::Object::New(env);
  object.Set("index", index);
  object.Set("name", name);
  object.Set("pci", pci);
  object.Set("memoryBytes", static_cast<double>(bytes));
  object.Set("capabilityMajor", attribute(device, cu::kCapabilityMajor));
  object.Set("capabilityMinor", attribute(device, cu::kCapabilityMinor));
  object.Set("multiprocessors", attribute(device, cu::kMultiprocessors));
  object.Set("l2CacheBytes", attribute(device, cu::kL2CacheBytes));
  object.Set("copyEngines", attribute(device, cu::kCopyEngines));
  bool unified = flag(device, cu::kUnifiedAddressing);
  object.Set("unifiedAddressing", unified);
  object.Set("dmabuf", flag(device, cu::kDmabuf) && Cuda::get().cuMemGetHandleForAddressRange != nullptr);
  // Sharing memory with another process has no attribute of its own: it needs one address space and memory of its own.
  object.Set("ipc", unified && !flag(device, cu::kIntegrated));
  object.Set("gpuDirectRdma", flag(device, cu::kGpuDirectRdma));
  object.Set("hostNativeAtomics", flag(device, cu::kHostNativeAtomics));
  object.Set("peers", peersOf(env, index, device));
  return object;
}

Napi::Value openCuda(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const Cuda& cuda = Cuda::open(info[0].As<Napi::String>().Utf8Value());
    auto object = Napi::Object::New(info.Env());
    object.Set("path", cuda.file);
    object.Set("version", cuda.driverVersion);
    object.Set("devices", cuda.devices);
    return object;
  });
}

Napi::Value describeGpu(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return describe(info.Env(), static_cast<int>(size(info[0], "device")));
  });
}

Napi::Value retainGpu(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    GpuContext::of(static_cast<int>(size(info[0], "device")));
    return info.Env().Undefined();
  });
}

Napi::Value freeGpuBytes(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    CudaCurrent current(*GpuContext::of(static_cast<int>(size(info[0], "device"))));
    size_t free = 0, total = 0;
    WEFT_CU(cuMemGetInfo, &free, &total);
    return Napi::Number::New(info.Env(), static_cast<double>(free));
  });
}

}  // namespace

void defineGpu(Napi::Env env, Napi::Object exports) {
  exports.Set("openCuda", Napi::Function::New<openCuda>(env));
  exports.Set("describeGpu", Napi::Function::New<describeGpu>(env));
  exports.Set("retainGpu", Napi::Function::New<retainGpu>(env));
  exports.Set("freeGpuBytes", Napi::Function::New<freeGpuBytes>(env));
}

}  // namespace weft
