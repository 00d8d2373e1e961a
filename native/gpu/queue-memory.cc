#include "queue-memory.h"

#include <algorithm>

#include "../fault.h"

namespace weft {

namespace {

constexpr uint32_t kMostShift = 24;
/// Cells per copy: 16 KiB, which a copy engine moves in about the time it takes to start.
constexpr uint64_t kFetchCells = 1024;

constexpr size_t roundUp(size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

template <typename T>
T* at(CuPointer base, size_t offset) {
  return reinterpret_cast<T*>(base + offset);
}

}  // namespace

QueueMemory::QueueMemory(uint32_t shift, GpuContextPtr context, Cells cells) {
  if (shift < 1 || shift > kMostShift) throw Fault("queue", EINVAL, "a queue holds 2 to 2^24 elements");
  size_t cellBytes = roundUp(sizeof(queue::Cell) << shift);
  size_t gateAt = cellBytes, wordsAt = gateAt + 4096, ticketsAt = wordsAt + roundUp(kWords * sizeof(uint64_t));
  mapping_ = std::make_unique<Mapping>(ticketsAt + 4096, false);
  uint8_t* data = mapping_->data();
  host_ = {reinterpret_cast<queue::Cell*>(data), reinterpret_cast<queue::Gate*>(data + gateAt),
           reinterpret_cast<queue::Tickets*>(data + ticketsAt), shift};
  words_ = reinterpret_cast<uint64_t*>(data + wordsAt);
  producers_ = host_;
  producerWords_ = words_;
  if (context) mapForGpu(context, cells);
}

void QueueMemory::mapForGpu(const GpuContextPtr& context, Cells cells) {
  registration_ = std::make_unique<HostRegistration>(context, mapping_->data(), mapping_->bytes());
  CuPointer base = registration_->devicePointer();
  auto moved = [&](const void* host) { return base + (static_cast<const uint8_t*>(host) - mapping_->data()); };
  size_t ticketBytes = roundUp(sizeof(queue::Tickets));
  copied_ = cells == Cells::Device;
  device_ = std::make_unique<DeviceMemory>(context, ticketBytes + (copied_ ? sizeof(queue::Cell) << host_.shift : 0));
  producers_.tickets = at<queue::Tickets>(device_->pointer(), 0);
  producers_.gate = at<queue::Gate>(moved(host_.gate), 0);
  producers_.cells = copied_ ? at<queue::Cell>(device_->pointer(), ticketBytes) : at<queue::Cell>(moved(host_.cells), 0);
  producerWords_ = at<uint64_t>(moved(words_), 0);
  if (copied_) stream_ = std::make_unique<Stream>(context);
}

void QueueMemory::fetch(uint64_t from) {
  uint64_t first = from & (host_.capacity() - 1);
  uint64_t count = std::min(kFetchCells, host_.capacity() - first);
  CudaCurrent current(stream_->context());
  WEFT_CU(cuMemcpyDtoHAsync, host_.cells + first, reinterpret_cast<CuPointer>(producers_.cells + first),
          count * sizeof(queue::Cell), stream_->handle());
  WEFT_CU(cuStreamSynchronize, stream_->handle());
}

}  // namespace weft
