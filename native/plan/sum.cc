#include "sum.h"

#include <algorithm>

namespace weft {

namespace {

constexpr size_t kBlock = 1024;  // numbers whose sums stay in the first-level cache

struct Float32 {
  using Word = float;
  using Sum = float;
  static Sum get(Word word) { return word; }
  static Word put(Sum sum) { return sum; }
};

struct Int32 {
  using Word = uint32_t;  // wraps around
  using Sum = uint32_t;
  static Sum get(Word word) { return word; }
  static Word put(Sum sum) { return sum; }
};

struct BFloat16 {
  using Word = uint16_t;
  using Sum = float;
  static Sum get(Word word) { return fromBfloat16(word); }
  static Word put(Sum sum) { return toBfloat16(sum); }
};

struct Float16 {
  using Word = uint16_t;
  using Sum = float;
  static Sum get(Word word) { return fromFloat16(word); }
  static Word put(Sum sum) { return toFloat16(sum); }
};

}  // namespace

template <typename Dtype>
void SumQueue::addAs(const SumPart& part, size_t skip, size_t bytes) {
  using Word = typename Dtype::Word;
  using Sum = typename Dtype::Sum;
  const Addend* addends = addends_.data() + part.firstAddend;
  const auto from = [&](uint32_t i) {
    return reinterpret_cast<const Word*>(buffers_[addends[i].buffer] + addends[i].offset + skip);
  };
  const auto weight = [&](uint32_t i) { return static_cast<Sum>(addends[i].weight); };
  for (size_t end = skip + bytes; skip < end; skip += kBlock * sizeof(Word)) {
    const size_t count = std::min(kBlock, (end - skip) / sizeof(Word));
    auto* into = reinterpret_cast<Word*>(buffers_[1] + part.into + skip);
    if (part.addends == 2) {  // the usual case needs no sums in between
      const Word *one = from(0), *other = from(1);
      const Sum ofOne = weight(0), ofOther = weight(1);
#pragma GCC ivdep  // what is written is an addend itself, or apart from it
      for (size_t k = 0; k < count; k++) into[k] = Dtype::put(ofOne * Dtype::get(one[k]) + ofOther * Dtype::get(other[k]));
      continue;
    }
    Sum sums[kBlock];
    for (uint32_t i = 0; i < part.addends; i++) {
      const Word* one = from(i);
      const Sum of = weight(i);
      if (i == 0) for (size_t k = 0; k < count; k++) sums[k] = of * Dtype::get(one[k]);
      else for (size_t k = 0; k < count; k++) sums[k] += of * Dtype::get(one[k]);
    }
    for (size_t k = 0; k < count; k++) into[k] = Dtype::put(sums[k]);
  }
}

void SumQueue::add(SumDtype dtype, const SumPart& part, size_t skip, size_t bytes) {
  switch (dtype) {
    case SumDtype::Float32: return addAs<Float32>(part, skip, bytes);
    case SumDtype::Float16: return addAs<Float16>(part, skip, bytes);
    case SumDtype::BFloat16: return addAs<BFloat16>(part, skip, bytes);
    case SumDtype::Int32: return addAs<Int32>(part, skip, bytes);
  }
}

bool SumQueue::work(std::vector<uint32_t>& done) {
  if (ready_.empty()) return false;
  size_t left = kSlice;
  while (left > 0 && !ready_.empty()) {
    Job& job = ready_.front();
    const SumPart& part = parts_[job.part];
    const size_t wanted = part.bytes - job.skip, most = std::max(left / part.addends, kBlock) & ~(kBlock - 1);
    const size_t bytes = std::min(wanted, most);
    add(job.dtype, part, job.skip, bytes);
    left -= std::min(left, std::max(bytes * part.addends, size_t{64}));  // an empty part takes time, too
    job.skip += bytes;
    if (job.skip < part.bytes) continue;
    job.skip = 0;
    if (++job.part < job.end) continue;
    done.push_back(job.step);
    ready_.pop_front();
  }
  return true;
}

}  // namespace weft
