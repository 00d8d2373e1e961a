#include "copier.h"

#include <cstring>

#include "../fault.h"
#include "../gpu/token-work.h"

namespace weft {

namespace {

CuPointer pointer(const uint8_t* address) { return reinterpret_cast<CuPointer>(address); }

class CudaCopier final : public Copier {
 public:
  CudaCopier(const GpuContextPtr& context, const std::array<Span, 2>& host, const Lists& lists)
      : lanes_{Lane(context), Lane(context)}, parts_(context) {
    if (lists.empty()) return;
    for (size_t i = 0; i < host.size(); i++) WEFT_CU(cuMemHostGetDevicePointer, &host_[i], host[i].base, 0);
    for (const auto& list : lists) lists_.push_back(parts_.add(list));
    parts_.upload();
  }
  ~CudaCopier() override { settle(); }

  void start(CopyWay way, uint8_t* to, const uint8_t* from, size_t bytes) override {
    Lane& lane = lanes_[way];
    if (way == FromDevice) WEFT_CU(cuMemcpyDtoHAsync, to, pointer(from), bytes, lane.stream.handle());
    else WEFT_CU(cuMemcpyHtoDAsync, pointer(to), from, bytes, lane.stream.handle());
    lane.startedOne();
  }

  void startList(CopyWay way, uint8_t* to, const uint8_t* from, size_t list) override {
    Lane& lane = lanes_[way];
    if (way == FromDevice) parts_.enqueue(lists_[list], host_[0], pointer(from), lane.stream);
    else parts_.enqueue(lists_[list], pointer(to), host_[1], lane.stream);
    lane.startedOne();
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
    void startedOne() { events[started++ % kInFlight]->record(stream); }
    Stream stream;
    std::array<std::unique_ptr<Event>, kInFlight> events;
    size_t started = 0, told = 0;
  };
  std::array<Lane, 2> lanes_;
  std::array<CuPointer, 2> host_{};  // of the staging buffers, as kernels see them
  PartLists parts_;
  std::vector<PartLists::List> lists_;
};

/// Device buffers that are host memory. A copy takes two looks, so that plans cannot rely on its being at once.
class HostCopier final : public Copier {
 public:
  explicit HostCopier(Lists lists) : lists_(std::move(lists)) {}

  void start(CopyWay way, uint8_t* to, const uint8_t* from, size_t bytes) override {
    lanes_[way].push_back({to, from, {{0, 0, bytes}}, false});
  }

  void startList(CopyWay way, uint8_t* to, const uint8_t* from, size_t list) override {
    lanes_[way].push_back({to, from, lists_[list], false});
  }

  bool ended(CopyWay way) override {
    Job& job = lanes_[way].front();
    if (!job.seen) {
      job.seen = true;
      return false;
    }
    for (const CopyPart& part : job.parts) std::memcpy(job.to + part.to, job.from + part.from, part.bytes);
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
    std::vector<CopyPart> parts;
    bool seen;
  };
  Lists lists_;
  std::array<std::deque<Job>, 2> lanes_;
};

}  // namespace

std::unique_ptr<Copier> Copier::make(const GpuContextPtr& context, const std::array<Span, 2>& host, Lists lists) {
  if (!context) return std::make_unique<HostCopier>(std::move(lists));
  CudaCurrent current(*context);
  return std::make_unique<CudaCopier>(context, host, lists);
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

CopyLanes::CopyLanes(std::array<Span, 2> host, std::array<Span, 2> device, const Parts& parts)
    : host_(std::move(host)), device_(std::move(device)) {
  Copier::Lists lists;
  for (const auto& [step, list] : parts) {
    lists_[step] = lists.size();
    lists.push_back(list);
  }
  copier_ = Copier::make(device_[0].context, host_, std::move(lists));
}

void CopyLanes::push(uint32_t step, uint32_t fromBuffer, size_t from, size_t to, size_t bytes) {
  const bool out = fromBuffer == 2;
  Job job{step, (out ? host_[0] : device_[1]).base, (out ? device_[0] : host_[1]).base, bytes, {}};
  if (auto list = lists_.find(step); list != lists_.end()) {
    job.list = list->second;
  } else {
    job.to += to;
    job.from += from;
  }
  lanes_[out ? FromDevice : ToDevice].ready.push_back(job);
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
      if (job.list) copier_->startList(way, job.to, job.from, *job.list);
      else copier_->start(way, job.to, job.from, job.bytes);
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
