// Small whole numbers in a buffer, and sums of them: what plans that add are checked with. Every number depends on a seed
// and its position, and all sums of a check are exact in its type, in whatever order they were made.
#include <napi.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "../addon.h"
#include "../binding.h"
#include "floats.h"
#include "memory.h"
#include "pattern-word.h"

namespace weft {

namespace {

/// Numbers are -largest … largest without 0. Of each `sparsity` elements all but one are 0, so that sums over many ranks
/// stay small enough to be exact; seeds that follow each other have theirs at different places.
struct NumberKind {
  uint64_t largest, sparsity;

  float at(uint64_t seed, uint64_t element) const {
    if (sparsity > 1 && (element + seed + spreadSeed(element / sparsity)) % sparsity != 0) return 0;
    uint64_t draw = spreadSeed(patternWord(patternPhase(spreadSeed(seed), element))) % (2 * largest);
    float size = static_cast<float>(draw / 2 + 1);
    return draw % 2 == 0 ? size : -size;
  }
};

void store(uint8_t* to, SumDtype type, float value) {
  uint32_t bits = 0;
  switch (type) {
    case SumDtype::Float32: bits = std::bit_cast<uint32_t>(value); break;
    case SumDtype::Float16: bits = toFloat16(value); break;
    case SumDtype::BFloat16: bits = toBfloat16(value); break;
    case SumDtype::Int32: bits = static_cast<uint32_t>(static_cast<int32_t>(value)); break;
  }
  std::memcpy(to, &bits, bytesOf(type));
}

struct Addend {
  uint64_t seed, element;
  float weight;
};

struct NumberPart {
  size_t offset = 0, bytes = 0;
  std::vector<Addend> addends;
};

float sumAt(const NumberPart& part, size_t element, const NumberKind& kind) {
  float sum = 0;
  for (const Addend& one : part.addends) sum += one.weight * kind.at(one.seed, one.element + element);
  return sum;
}

/// Runs on a pool thread; the mapping stays alive through its own reference.
class NumbersWorker : public Napi::AsyncWorker {
 public:
  NumbersWorker(Napi::Env env, std::shared_ptr<Mapping> mapping, SumDtype type, bool verify, NumberKind kind,
                std::vector<NumberPart> parts)
      : AsyncWorker(env), deferred(env), mapping_(std::move(mapping)), type_(type), verify_(verify),
        kind_(kind), parts_(std::move(parts)) {}

  void Execute() override {
    for (const NumberPart& part : parts_) {
      for (size_t i = 0; i < part.bytes / bytesOf(type_); i++) element(part, i);
    }
  }
  void OnOK() override { deferred.Resolve(toObject(Env(), found_)); }

  Napi::Promise::Deferred deferred;

 private:
  void element(const NumberPart& part, size_t index) {
    size_t width = bytesOf(type_), offset = part.offset + index * width;
    uint8_t* data = mapping_->data() + offset;
    if (!verify_) return store(data, type_, sumAt(part, index, kind_));
    uint8_t expected[4];
    store(expected, type_, sumAt(part, index, kind_));
    // -0 and 0 are one sum.
    if (std::memcmp(data, expected, width) == 0 || (isZero(data) && isZero(expected))) return;
    for (size_t i = 0; i < width; i++) {
      if (data[i] == expected[i]) continue;
      if (found_.wrong++ == 0) found_ = {1, offset + i, expected[i], data[i]};
    }
  }

  bool isZero(const uint8_t* data) const {
    uint32_t bits = 0;
    std::memcpy(&bits, data, bytesOf(type_));
    return type_ != SumDtype::Int32 && (bits << (32 - 8 * bytesOf(type_)) << 1) == 0;
  }

  std::shared_ptr<Mapping> mapping_;
  SumDtype type_;
  bool verify_;
  NumberKind kind_;
  std::vector<NumberPart> parts_;
  Mismatch found_;
};

/// A whole number in an array from JavaScript.
size_t whole(double number) {
  if (!(number >= 0 && number <= 9007199254740991.0) || number != std::floor(number)) {
    throw Fault("memory", EINVAL, "a part is malformed");
  }
  return static_cast<size_t>(number);
}

std::vector<NumberPart> readParts(const Napi::Float64Array& numbers, const Mapping& mapping, size_t width) {
  std::vector<NumberPart> parts;
  size_t at = 0, length = numbers.ElementLength();
  auto next = [&] {
    if (at >= length) throw Fault("memory", EINVAL, "a part is malformed");
    return numbers[at++];
  };
  while (at < length) {
    NumberPart part;
    part.offset = whole(next());
    part.bytes = whole(next());
    if (part.offset > mapping.bytes() || part.bytes > mapping.bytes() - part.offset || part.bytes % width != 0) {
      throw Fault("memory", ERANGE, "a part is outside the buffer");
    }
    for (size_t left = whole(next()); left > 0; left--) {
      Addend addend;
      addend.seed = whole(next());
      size_t position = whole(next());
      if (position % width != 0) throw Fault("memory", EINVAL, "a part begins inside a number");
      addend.element = position / width;
      addend.weight = static_cast<float>(next());
      part.addends.push_back(addend);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

// (memory, type, verify, largest, sparsity, parts): each part is offset, bytes, number of addends, then seed, position
// and weight of each.
Napi::Value numbers(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto mapping = Memory::mappingOf(info[0]);
    size_t type = size(info[1], "type");
    if (type >= kSumDtypes) throw Fault("memory", EINVAL, "there is no such type of numbers");
    bool verify = info[2].ToBoolean();
    NumberKind kind{size(info[3], "largest"), size(info[4], "sparsity")};
    if (kind.largest == 0) throw Fault("memory", EINVAL, "numbers cannot all be 0");
    auto dtype = static_cast<SumDtype>(type);
    auto parts = readParts(doubles(info[5], "parts"), *mapping, bytesOf(dtype));
    auto* worker = new NumbersWorker(info.Env(), std::move(mapping), dtype, verify, kind, std::move(parts));
    auto promise = worker->deferred.Promise();
    worker->Queue();
    return promise;
  });
}

}  // namespace

void defineNumbers(Napi::Env env, Napi::Object exports) {
  exports.Set("numbers", Napi::Function::New<numbers>(env));
}

}  // namespace weft
