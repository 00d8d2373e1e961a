// A stand-in for CUDA's driver that keeps "GPU" memory on the heap and runs our kernels on the CPU, so that everything
// of ours above the driver can be tried where there is no GPU: errors that a real one gives only when it breaks,
// and that every thread has made a context current before it calls. It proves nothing about speed or about CUDA.
//   STAND_IN_VERSION=13000  STAND_IN_GPUS=1  STAND_IN_BYTES=268435456
//   STAND_IN_PCI=53:00.0,64:00.0   where the GPUs are; default: 1a:00.0, 1b:00.0, …
//   STAND_IN_FAIL=cuMemAlloc_v2:2,cuStreamSynchronize:700   these calls give these results
//   STAND_IN_SLOW=weft_fill   this kernel takes twice its time
//   STAND_IN_LOG=file   gets a line of rank, call and value for each context retained and each attribute set
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "host-kernels.h"
#include "stand-in.h"

using namespace weft;

namespace {

constexpr CuResult kInvalidContext = 201, kInvalidDevice = 101, kNotFound = 500, kInvalidImage = 200;

thread_local std::vector<CuContext> current;

CuResult asked(const char* call) {
  const char* list = std::getenv("STAND_IN_FAIL");
  std::string key = std::string(call) + ":";
  const char* found = list ? std::strstr(list, key.c_str()) : nullptr;
  return found ? std::atoi(found + key.size()) : 0;
}

}  // namespace

size_t setting(const char* name, size_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

void tell(const char* call, int value) {
  const char* path = std::getenv("STAND_IN_LOG");
  int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
  if (fd < 0) return;
  const char* rank = std::getenv("WEFT_RANK");
  dprintf(fd, "%s %s %d\n", rank ? rank : "-", call, value);
  close(fd);
}

CuResult inContext(const char* call) {
  if (current.empty()) return kInvalidContext;
  return asked(call);
}

extern "C" {

CuResult cuInit(unsigned) { return asked("cuInit"); }
CuResult cuDriverGetVersion(int* version) {
  *version = static_cast<int>(setting("STAND_IN_VERSION", 13000));
  return asked("cuDriverGetVersion");
}
CuResult cuGetErrorName(CuResult error, const char** text) {
  static thread_local char name[32];
  std::snprintf(name, sizeof(name), "STAND_IN_ERROR_%d", error);
  *text = name;
  return 0;
}
CuResult cuGetErrorString(CuResult, const char** text) {
  *text = "as asked for";
  return 0;
}
CuResult cuDeviceGetCount(int* count) {
  *count = static_cast<int>(setting("STAND_IN_GPUS", 1));
  return asked("cuDeviceGetCount");
}
CuResult cuDeviceGet(CuDevice* device, int ordinal) {
  if (ordinal >= static_cast<int>(setting("STAND_IN_GPUS", 1))) return kInvalidDevice;
  *device = ordinal;
  return 0;
}
CuResult cuDeviceGetName(char* name, int bytes, CuDevice) {
  std::snprintf(name, bytes, "stand-in");
  return 0;
}
CuResult cuDeviceGetPCIBusId(char* id, int bytes, CuDevice device) {
  std::snprintf(id, bytes, "0000:%02X:00.0", 0x1A + device);
  const char* list = std::getenv("STAND_IN_PCI");
  for (int skip = device; list && skip > 0; skip--) {
    list = std::strchr(list, ',');
    if (list) list++;
  }
  if (list) std::snprintf(id, bytes, "0000:%.*s", static_cast<int>(std::strcspn(list, ",")), list);
  return 0;
}
CuResult cuDeviceGetAttribute(int* value, int attribute, CuDevice) {
  switch (attribute) {
    case cu::kMultiprocessors: *value = 3; break;
    case cu::kCapabilityMajor: *value = 9; break;
    case cu::kUnifiedAddressing: case cu::kDmabuf: *value = 1; break;
    default: *value = 0;
  }
  return 0;
}
CuResult cuDeviceTotalMem_v2(size_t* bytes, CuDevice) {
  *bytes = setting("STAND_IN_BYTES", 256u << 20);
  return 0;
}
CuResult cuDeviceCanAccessPeer(int* can, CuDevice, CuDevice) {
  *can = 1;
  return 0;
}
CuResult cuDevicePrimaryCtxRetain(CuContext* context, CuDevice device) {
  *context = reinterpret_cast<CuContext>(static_cast<uintptr_t>(device) + 1);
  tell("cuDevicePrimaryCtxRetain", device);
  return asked("cuDevicePrimaryCtxRetain");
}
CuResult cuCtxPushCurrent_v2(CuContext context) {
  current.push_back(context);
  return 0;
}
CuResult cuCtxPopCurrent_v2(CuContext* context) {
  if (current.empty()) return kInvalidContext;
  *context = current.back();
  current.pop_back();
  return 0;
}
CuResult cuModuleLoadDataEx(CuModule* module, const void* image, unsigned, int*, void**) {
  ANSWER(inContext("cuModuleLoadDataEx"));
  if (!std::strstr(static_cast<const char*>(image), ".target sm_80")) return kInvalidImage;
  *module = static_cast<CuModule>(static_cast<void*>(strdup(static_cast<const char*>(image))));
  return 0;
}
CuResult cuModuleGetFunction(CuFunction* function, CuModule module, const char* name) {
  ANSWER(inContext("cuModuleGetFunction"));
  std::string entry = std::string(".entry ") + name + "(";
  if (!std::strstr(reinterpret_cast<const char*>(module), entry.c_str())) return kNotFound;
  *function = static_cast<CuFunction>(static_cast<void*>(strdup(name)));
  return 0;
}
CuResult cuLaunchKernel(CuFunction function, unsigned gridX, unsigned, unsigned, unsigned blockX, unsigned, unsigned,
                        unsigned, CuStream, void** parameters, void**) {
  ANSWER(inContext("cuLaunchKernel"));
  const char* name = reinterpret_cast<const char*>(function);
  auto bytes = runKernel(name, gridX, blockX, parameters);
  if (!bytes) return kNotFound;
  spend(name, *bytes);
  return 0;
}
}  // extern "C"
