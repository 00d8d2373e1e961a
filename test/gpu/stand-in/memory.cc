// Memory of the stand-in: blocks of the heap, and registered pages of the host.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "stand-in.h"

using namespace weft;

namespace {

constexpr CuResult kInvalidValue = 1, kNotRegistered = 713, kAlreadyRegistered = 712;

std::mutex gate;
std::map<CuPointer, size_t> blocks;
std::map<void*, size_t> registered;
size_t used = 0;

}  // namespace

extern "C" {

CuResult cuMemGetInfo_v2(size_t* free, size_t* total) {
  ANSWER(inContext("cuMemGetInfo_v2"));
  std::lock_guard lock(gate);
  *total = setting("STAND_IN_BYTES", 256u << 20);
  *free = *total - used;
  return 0;
}
CuResult cuMemAlloc_v2(CuPointer* pointer, size_t bytes) {
  ANSWER(inContext("cuMemAlloc_v2"));
  std::lock_guard lock(gate);
  if (bytes > setting("STAND_IN_BYTES", 256u << 20) - used) return cu::kOutOfMemory;
  *pointer = reinterpret_cast<CuPointer>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
  std::memset(reinterpret_cast<void*>(*pointer), 0xcd, bytes);
  blocks[*pointer] = bytes;
  used += bytes;
  return 0;
}
CuResult cuMemFree_v2(CuPointer pointer) {
  ANSWER(inContext("cuMemFree_v2"));
  std::lock_guard lock(gate);
  auto found = blocks.find(pointer);
  if (found == blocks.end()) return kInvalidValue;
  used -= found->second;
  blocks.erase(found);
  std::free(reinterpret_cast<void*>(pointer));
  return 0;
}
CuResult cuMemcpyHtoDAsync_v2(CuPointer to, const void* from, size_t bytes, CuStream) {
  ANSWER(inContext("cuMemcpyHtoDAsync_v2"));
  spend("cuMemcpyHtoDAsync_v2", bytes);
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
CuResult cuMemcpyDtoHAsync_v2(void* to, CuPointer from, size_t bytes, CuStream) {
  ANSWER(inContext("cuMemcpyDtoHAsync_v2"));
  spend("cuMemcpyDtoHAsync_v2", bytes);
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return 0;
}
CuResult cuMemcpyDtoDAsync_v2(CuPointer to, CuPointer from, size_t bytes, CuStream) {
  ANSWER(inContext("cuMemcpyDtoDAsync_v2"));
  spend("cuMemcpyDtoDAsync_v2", bytes);
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
  return 0;
}
CuResult cuMemsetD8Async(CuPointer to, unsigned char value, size_t count, CuStream) {
  ANSWER(inContext("cuMemsetD8Async"));
  spend("cuMemsetD8Async", count);
  std::memset(reinterpret_cast<void*>(to), value, count);
  return 0;
}
CuResult cuMemsetD32Async(CuPointer to, unsigned value, size_t count, CuStream) {
  ANSWER(inContext("cuMemsetD32Async"));
  spend("cuMemsetD32Async", count * sizeof(unsigned));
  for (size_t i = 0; i < count; i++) reinterpret_cast<unsigned*>(to)[i] = value;
  return 0;
}
CuResult cuMemHostRegister_v2(void* start, size_t bytes, unsigned) {
  ANSWER(inContext("cuMemHostRegister_v2"));
  std::lock_guard lock(gate);
  return registered.emplace(start, bytes).second ? 0 : kAlreadyRegistered;
}
CuResult cuMemHostUnregister(void* start) {
  ANSWER(inContext("cuMemHostUnregister"));
  std::lock_guard lock(gate);
  // The pages must still be there: a real driver lets go of them now.
  auto found = registered.find(start);
  if (found == registered.end() || msync(start, found->second, MS_ASYNC) != 0) std::abort();
  registered.erase(found);
  return 0;
}
CuResult cuMemHostGetDevicePointer_v2(CuPointer* pointer, void* host, unsigned) {
  ANSWER(inContext("cuMemHostGetDevicePointer_v2"));
  std::lock_guard lock(gate);
  if (!registered.count(host)) return kNotRegistered;
  *pointer = reinterpret_cast<CuPointer>(host);
  return 0;
}
CuResult cuPointerSetAttribute(const void*, int attribute, CuPointer) {
  ANSWER(inContext("cuPointerSetAttribute"));
  tell("cuPointerSetAttribute", attribute);
  return 0;
}
CuResult cuMemGetHandleForAddressRange(void* handle, CuPointer pointer, size_t bytes, int, unsigned long long) {
  ANSWER(inContext("cuMemGetHandleForAddressRange"));
  if (pointer % 512 != 0 || bytes % 4096 != 0) return kInvalidValue;
  int fd = memfd_create("dmabuf", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) return cu::kNotSupported;
  *static_cast<int*>(handle) = fd;
  return 0;
}
}  // extern "C"
