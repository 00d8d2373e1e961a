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

double timeRepeats(const GpuContextPtr& context, const Stream& stream, size_t repeats,
                   const std::function<void()>& enqueue) {
  CudaCurrent current(*context);
  enqueue();
  stream.synchronize();
  if (repeats == 0) return 0;
  Event start(context, true), end(context, true);
  start.record(stream);
  for (size_t i = 0; i < repeats; i++) enqueue();
  end.record(stream);
  stream.synchronize();
  return Event::milliseconds(start, end) / static_cast<double>(repeats);
}

double GpuTiming::run(DeviceBlock& block) const {
  bool needsHost = work == GpuWork::copyToHost || work == GpuWork::copyToDevice;
  if (needsHost && !host) throw Fault("time", EINVAL, "a copy needs host memory");
  if (repeats == 0) throw Fault("time", EINVAL, "nothing to repeat");
  auto held = block.pattern.hold();
  return timeRepeats(block.memory.context(), block.pattern.stream(), repeats, [&] { enqueue(block); });
}

}  // namespace weft
