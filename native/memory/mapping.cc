#include "mapping.h"

#include <sys/mman.h>

#include <algorithm>

#include "../fault.h"
#include "../gpu/cuda-owners.h"

namespace weft {

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = 2u << 20;
constexpr size_t kHugeFrom = kHugePage / 2;  // from here on: a copy between processes then walks few pages, not hundreds
constexpr size_t kPiece = 64u << 20;         // what is prepared between two looks at the abort flag

size_t roundUp(size_t value, size_t to) { return (value + to - 1) / to * to; }

}  // namespace

Mapping::Mapping(size_t bytes) : bytes_(bytes) {
  size_t unit = bytes >= kHugeFrom ? kHugePage : kPage;
  size_t wanted = roundUp(std::max<size_t>(bytes, 1), unit);
  // Over-map by one unit to start on its boundary, then give the ends back.
  size_t span = unit == kHugePage ? wanted + unit : wanted;
  void* raw = mmap(nullptr, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) throwErrno("mmap");
  auto* start = static_cast<uint8_t*>(raw);
  auto* aligned = reinterpret_cast<uint8_t*>(roundUp(reinterpret_cast<uintptr_t>(start), unit));
  if (aligned > start) munmap(start, aligned - start);
  size_t tail = span - (aligned - start) - wanted;
  if (tail > 0) munmap(aligned + wanted, tail);
  data_ = aligned;
  mapped_ = wanted;
  if (unit == kHugePage) madvise(data_, mapped_, MADV_HUGEPAGE);
  // A forked child must not share pages that a NIC writes to.
  madvise(data_, mapped_, MADV_DONTFORK);
}

void Mapping::prepare(bool locked, std::atomic<size_t>& prepared, const std::atomic<bool>& aborted) {
  // First without a page: a limit that is too low refuses at once.
  if (locked && mlock2(data_, mapped_, MLOCK_ONFAULT) != 0) throwErrno("mlock");
  for (size_t done = 0; done < mapped_;) {
    if (aborted.load(std::memory_order_relaxed)) throw Fault("memory", ECANCELED, "the buffer was given up");
    size_t end = done + std::min(kPiece, mapped_ - done);
    if (locked && mlock(data_ + done, end - done) != 0) throwErrno("mlock");
    for (size_t i = done; i < end; i += kPage) static_cast<volatile uint8_t*>(data_)[i] = 0;
    prepared.store(std::min(end, bytes_), std::memory_order_relaxed);
    done = end;
  }
}

Mapping::Mapping(size_t bytes, bool locked) : Mapping(bytes) {
  std::atomic<size_t> prepared{0};
  prepare(locked, prepared, false);
}

Mapping::~Mapping() {
  registration_.reset();
  munmap(data_, mapped_);
}

void Mapping::registerWithGpu(const GpuContextPtr& context) {
  if (!registration_) registration_ = std::make_unique<HostRegistration>(context, data_, mapped_);
}

}  // namespace weft
