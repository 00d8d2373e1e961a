#include "gpu-timing.h"

#include <cerrno>
#include <map>

#include "device-memory.h"
#include "../fault.h"

namespace weft {

GpuWork gpuWorkNamed(const std::string& name) {
  static const std::map<std::string, GpuWork> names = {
      {"set", GpuWork::set},
      {"fill", GpuWork::fill},
      {"read", GpuWork::read},
      {"verify", GpuWork::verify},
      {"copyToHost", GpuWork::copyToHost},
      {"copyToDevice", GpuWork::copyToDevice},
      {"copyOnDevice", GpuWork::copyOnDevice},
  };
  auto found = names.find(name);
  if (found == names.end()) throw Fault("time", EINVAL, "unknown GPU timing " + name);
  return found->second;
}

void GpuTiming::enqueue(DeviceBlock& block) const {
  GpuPattern& pattern = block.pattern;
  bool chosen = shape.blocks > 0;
  CuStream stream = pattern.stream().handle();
  switch (work) {
    case GpuWork::set:
      return pattern.enqueueSet(data, bytes, 0x5a);
    case GpuWork::fill:
      return pattern.enqueueFill(data, bytes, 1, 0, chosen ? shape : kFillShape);
    case GpuWork::read:
      return pattern.enqueueRead(data, bytes, chosen ? shape : kVerifyShape);
    case GpuWork::verify:
      return pattern.enqueueVerify(data, bytes, 1, 0, chosen ? shape : kVerifyShape);
    case GpuWork::copyToHost:
      WEFT_CU(cuMemcpyDtoHAsync, host->data(), data, bytes, stream);
      return;
    case GpuWork::copyToDevice:
      WEFT_CU(cuMemcpyHtoDAsync, data, host->data(), bytes, stream);
      return;
    case GpuWork::copyOnDevice:
      WEFT_CU(cuMemcpyDtoDAsync, data + bytes / 2, data, bytes / 2, stream);
      return;
  }
}

double GpuTiming::run(DeviceBlock& block) const {
  bool needsHost = work == GpuWork::copyToHost || work == GpuWork::copyToDevice;
  if (needsHost && !host) throw Fault("time", EINVAL, "a copy needs host memory");
  if (repeats == 0) throw Fault("time", EINVAL, "nothing to repeat");
  const auto& context = block.memory.context();
  CudaCurrent current(*context);
  auto held = block.pattern.hold();
  Event start(context, true), end(context, true);
  enqueue(block);  // loads the kernel, and grows what it needs, outside the timed part
  block.pattern.stream().synchronize();
  start.record(block.pattern.stream());
  for (size_t i = 0; i < repeats; i++) enqueue(block);
  end.record(block.pattern.stream());
  block.pattern.stream().synchronize();
  return Event::milliseconds(start, end) / static_cast<double>(repeats);
}

}  // namespace weft
