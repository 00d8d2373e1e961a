#include "copier.h"

#include <cstring>

#include "../fault.h"

namespace weft {

namespace {

CuPointer pointer(const uint8_t* address) { return reinterpret_cast<CuPointer>(address); }

class CudaCopier final : public Copier {
 public:
  explicit CudaCopier(const GpuContextPtr& context) : lanes_{Lane(context), Lane(context)} {}
  ~CudaCopier() override { settle(); }

  void start(CopyWay way, uint8_t* to, const uint8_t* from, size_t bytes) override {
    Lane& lane = lanes_[way];
    if (way == FromDevice) WEFT_CU(cuMemcpyDtoHAsync, to, pointer(from), bytes, lane.stream.handle());
    else WEFT_CU(cuMemcpyHtoDAsync, pointer(to), from, bytes, lane.stream.handle());
    lane.events[lane.started++ % kInFlight]->record(lane.stream);
  }

  bool ended(CopyWay way) override {
    Lane& lane = lanes_[way];
    if (!lane.events[lane.told % kInFlight]->done()) return false;
    lane.told++;
    return true;
  }

  void settle() noexcept override {
    for (Lane& lane : lanes_) {
      try {
        lane.stream.synchronize();
      } catch (const Fault&) {
        // Told by whoever looked at the copy itself.
      }
    }
  }

 private:
  struct Lane {
    explicit Lane(const GpuContextPtr& context) : stream(context) {
      for (auto& event : events) event = std::make_unique<Event>(context);
    }
    Stream stream;
    std::array<std::unique_ptr<Event>, kInFlight> events;
    size_t started = 0, told = 0;
  };
  std::array<Lane, 2> lanes_;
};

/// Device buffers that are host memory. A copy takes two looks, so that plans cannot rely on its being at once.
class HostCopier final : public Copier {
 public:
  void start(CopyWay way, uint8_t* to, const uint8_t* from, size_t bytes) override {
    lanes_[way].push_back({to, from, bytes, false});
  }

  bool ended(CopyWay way) override {
    Job& job = lanes_[way].front();
    if (!job.seen) {
      job.seen = true;
      return false;
    }
    std::memcpy(job.to, job.from, job.bytes);
    lanes_[way].pop_front();
    return true;
  }

  void settle() noexcept override {
    for (auto& lane : lanes_) lane.clear();
  }

 private:
  struct Job {
    uint8_t* to;
    const uint8_t* from;
    size_t bytes;
    bool seen;
  };
  std::array<std::deque<Job>, 2> lanes_;
};

}  // namespace

std::unique_ptr<Copier> Copier::make(const GpuContextPtr& context) {
  if (!context) return std::make_unique<HostCopier>();
  CudaCurrent current(*context);
  return std::make_unique<CudaCopier>(context);
}

void flipByte(const Span& span, size_t offset) {
  uint8_t* place = span.base + offset;
  if (!span.context) {
    *place ^= 1;
    return;
  }
  CudaCurrent current(*span.context);
  Stream stream(span.context);
  uint8_t byte = 0;
  WEFT_CU(cuMemcpyDtoHAsync, &byte, pointer(place), 1, stream.handle());
  stream.synchronize();
  byte ^= 1;
  WEFT_CU(cuMemcpyHtoDAsync, pointer(place), &byte, 1, stream.handle());
  stream.synchronize();
}

CopyLanes::CopyLanes(std::array<Span, 2> host, std::array<Span, 2> device)
    : host_(std::move(host)), device_(std::move(device)), copier_(Copier::make(device_[0].context)) {}

void CopyLanes::push(uint32_t step, uint32_t fromBuffer, size_t from, size_t to, size_t bytes) {
  if (fromBuffer == 2) lanes_[FromDevice].ready.push_back({step, host_[0].base + to, device_[0].base + from, bytes});
  else lanes_[ToDevice].ready.push_back({step, device_[1].base + to, host_[1].base + from, bytes});
}

bool CopyLanes::poll(std::vector<uint32_t>& ended) {
  size_t before = ended.size();
  for (CopyWay way : {FromDevice, ToDevice}) {
    Lane& lane = lanes_[way];
    while (!lane.flying.empty() && copier_->ended(way)) {
      ended.push_back(lane.flying.front());
      lane.flying.pop_front();
    }
    while (!lane.ready.empty() && lane.flying.size() < Copier::kInFlight) {
      const Job& job = lane.ready.front();
      copier_->start(way, job.to, job.from, job.bytes);
      lane.flying.push_back(job.step);
      lane.ready.pop_front();
    }
  }
  return ended.size() > before;
}

void CopyLanes::settle() noexcept {
  for (Lane& lane : lanes_) lane.ready.clear();
  copier_->settle();
}

}  // namespace weft
