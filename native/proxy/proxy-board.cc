#include "proxy-board.h"

namespace weft {

ProxyBoard::ProxyBoard(uint32_t producers, uint32_t shift, const GpuContextPtr& context)
    : queue_(shift, context, QueueMemory::Cells::Host) {
  size_t delivered = producers * sizeof(queue::Delivered);
  words_ = std::make_unique<Mapping>(delivered + producers * sizeof(queue::Pushed), false);
  host_ = {queue_.host(), reinterpret_cast<queue::Delivered*>(words_->data()),
           reinterpret_cast<queue::Pushed*>(words_->data() + delivered), producers};
  producers_ = host_;
  if (context) mapForGpu(context);
}

void ProxyBoard::mapForGpu(const GpuContextPtr& context) {
  registration_ = std::make_unique<HostRegistration>(context, words_->data(), words_->bytes());
  pushed_ = std::make_unique<DeviceMemory>(context, host_.producers * sizeof(queue::Pushed));
  host_.pushed = nullptr;
  producers_.queue = queue_.producers();
  producers_.delivered = reinterpret_cast<queue::Delivered*>(registration_->devicePointer());
  producers_.pushed = reinterpret_cast<queue::Pushed*>(pushed_->pointer());
}

}  // namespace weft
