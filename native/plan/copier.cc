#include "copier.h"

#include <cstring>

#include "../fault.h"
#include "../gpu/token-work.h"

namespace weft {

namespace {

CuPointer pointer(const uint8_t* address) { return reinterpret_cast<CuPointer>(address); }

/// As the kernels of sums are named.
const char* nameOf(SumDtype dtype) {
  switch (dtype) {
    case SumDtype::Float32: return "float32";
    case SumDtype::Float16: return "float16";
    case SumDtype::BFloat16: return "bfloat16";
    case SumDtype::Int32: return "int32";
  }
  return "";
}

std::vector<SumAddend> placed(const std::vector<Addend>& addends, const std::array<Span, 2>& device) {
  std::vector<SumAddend> result;
  result.reserve(addends.size());
  for (const Addend& one : addends) result.push_back({device[one.buffer].base + one.offset, one.weight});
  return result;
}

class CudaCopier final : public Copier {
 public:
  CudaCopier(const std::array<Span, 2>& host, const std::array<Span, 2>& device, const DeviceWork& work)
      : CudaCopier(device[1].context, placed(work.addends, device)) {
    target_ = host[1].base;
    if (!work.copies.empty()) {
      for (size_t i = 0; i < host.size(); i++) WEFT_CU(cuMemHostGetDevicePointer, &host_[i], host[i].base, 0);
      for (const auto& list : work.copies) copies_.push_back(copyLists_.add(list));
      copyLists_.upload();
    }
    for (const DeviceWork::Sum& sum : work.sums) {
      std::vector<SumLists::Sum> sums;
      for (uint32_t i = sum.firstPart; i < sum.firstPart + sum.parts; i++) {
        const SumPart& part = work.parts[i];
        sums.push_back({pointer(device[1].base + part.into), part.bytes, part.firstAddend, part.addends});
      }
      sums_.push_back(sumLists_.add(nameOf(sum.dtype), sums));
    }
    if (!sums_.empty()) sumLists_.upload();
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
    if (way == FromDevice) copyLists_.enqueue(copies_[list], host_[to == target_], pointer(from), lane.stream);
    else copyLists_.enqueue(copies_[list], pointer(to), host_[1], lane.stream);
    lane.startedOne();
  }

  void startSum(size_t sum) override {
    Lane& lane = lanes_[OnDevice];
    sumLists_.enqueue(sums_[sum], lane.stream);
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
  CudaCopier(const GpuContextPtr& context, std::vector<SumAddend> addends)
      : lanes_{Lane(context), Lane(context), Lane(context)}, copyLists_(context), sumLists_(context, std::move(addends)) {}

  struct Lane {
    explicit Lane(const GpuContextPtr& context) : stream(context) {
      for (auto& event : events) event = std::make_unique<Event>(context);
    }
    void startedOne() { events[started++ % kInFlight]->record(stream); }
    Stream stream;
    std::array<std::unique_ptr<Event>, kInFlight> events;
    size_t started = 0, told = 0;
  };
  std::array<Lane, 3> lanes_;
  std::array<CuPointer, 2> host_{};  // of the staging buffers, as kernels see them
  const uint8_t* target_ = nullptr;  // of the second of them
  PartLists copyLists_;
  std::vector<PartLists::List> copies_;
  SumLists sumLists_;
  std::vector<SumLists::List> sums_;
};

/// Device buffers that are host memory. All takes two looks, so that plans cannot rely on its being at once.
class HostCopier final : public Copier {
 public:
  HostCopier(const std::array<Span, 2>& device, DeviceWork work)
      : work_(std::move(work)), sums_(work_.parts, work_.addends, device[0].base, device[1].base) {}

  void start(CopyWay way, uint8_t* to, const uint8_t* from, size_t bytes) override {
    lanes_[way].push_back({to, from, {{0, 0, bytes}}, false});
  }

  void startList(CopyWay way, uint8_t* to, const uint8_t* from, size_t list) override {
    lanes_[way].push_back({to, from, work_.copies[list], false});
  }

  void startSum(size_t sum) override {
    const auto& [dtype, firstPart, parts] = work_.sums[sum];
    sums_.push(static_cast<uint32_t>(sum), dtype, firstPart, parts);
  }

  bool ended(CopyWay way) override {
    if (way == OnDevice) return sumEnded();
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
  bool sumEnded() {
    if (added_.empty()) {
      sums_.work(added_);
      return false;
    }
    added_.erase(added_.begin());
    return true;
  }

  struct Job {
    uint8_t* to;
    const uint8_t* from;
    std::vector<CopyPart> parts;
    bool seen;
  };
  const DeviceWork work_;
  SumQueue sums_;
  std::vector<uint32_t> added_;  // sums that are done and not told
  std::array<std::deque<Job>, 2> lanes_;
};

}  // namespace

std::unique_ptr<Copier> Copier::make(const std::array<Span, 2>& host, const std::array<Span, 2>& device, DeviceWork work) {
  if (!device[1].context) return std::make_unique<HostCopier>(device, std::move(work));
  CudaCurrent current(*device[1].context);
  return std::make_unique<CudaCopier>(host, device, work);
}

void flipByte(const Span& span, size_t offset) {
  if (offset >= span.bytes) throw Fault("plan", EINVAL, "the byte to flip is outside its buffer");
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

CopyLanes::CopyLanes(std::array<Span, 2> host, std::array<Span, 2> device, DeviceWork work, std::map<uint32_t, size_t> numberOf)
    : host_(std::move(host)),
      device_(std::move(device)),
      numberOf_(std::move(numberOf)),
      adds_(!work.sums.empty()),
      copier_(Copier::make(host_, device_, std::move(work))) {}

void CopyLanes::push(uint32_t step, uint32_t fromBuffer, size_t from, size_t to, size_t bytes) {
  const bool out = fromBuffer >= 2;
  const size_t side = fromBuffer % 2;
  Job job{step, (out ? host_ : device_)[side].base, (out ? device_ : host_)[side].base, bytes};
  if (auto number = numberOf_.find(step); number != numberOf_.end()) {
    job.number = number->second;
  } else {
    job.to += to;
    job.from += from;
  }
  lanes_[out ? FromDevice : ToDevice].ready.push_back(job);
}

void CopyLanes::pushSum(uint32_t step) {
  Job job{step};
  job.number = numberOf_.at(step);
  lanes_[OnDevice].ready.push_back(job);
}

bool CopyLanes::poll(std::vector<uint32_t>& ended) {
  size_t before = ended.size();
  for (CopyWay way : {FromDevice, ToDevice, OnDevice}) {
    Lane& lane = lanes_[way];
    while (!lane.flying.empty() && copier_->ended(way)) {
      ended.push_back(lane.flying.front());
      lane.flying.pop_front();
    }
    while (!lane.ready.empty() && lane.flying.size() < Copier::kInFlight) {
      const Job& job = lane.ready.front();
      if (way == OnDevice) copier_->startSum(*job.number);
      else if (job.number) copier_->startList(way, job.to, job.from, *job.number);
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
