// Running numbers in a buffer: what all_to_all_single sends and checks.
#include "sequence.h"

#include <napi.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "../addon.h"
#include "../binding.h"
#include "memory.h"

namespace weft {

namespace {

constexpr size_t kBlock = 1024;

/// The bits of the number, by element type.
template <typename Bits, typename Number>
Bits bitsOf(int64_t value) {
  auto number = static_cast<Number>(value);
  Bits bits;
  std::memcpy(&bits, &number, sizeof(bits));
  return bits;
}

template <typename Bits, typename Number>
void fill(uint8_t* data, size_t count, int64_t first, Bits flip) {
  for (size_t i = 0; i < count; i++) {
    Bits bits = bitsOf<Bits, Number>(first + static_cast<int64_t>(i)) ^ flip;
    std::memcpy(data + i * sizeof(Bits), &bits, sizeof(Bits));
  }
}

void note(Mismatch& result, const uint8_t* data, const void* expected, size_t bytes, size_t base) {
  const auto* wanted = static_cast<const uint8_t*>(expected);
  for (size_t i = 0; i < bytes; i++) {
    if (data[i] == wanted[i]) continue;
    if (result.wrong++ == 0) {
      result.offset = base + i;
      result.expected = wanted[i];
      result.found = data[i];
    }
  }
}

template <typename Bits, typename Number>
Mismatch verify(const uint8_t* data, size_t count, int64_t first) {
  Mismatch result;
  for (size_t done = 0; done < count; done += kBlock) {
    size_t here = std::min(kBlock, count - done);
    const uint8_t* block = data + done * sizeof(Bits);
    // Compared without branches; only a block that differs is looked at element by element.
    Bits difference = 0;
    for (size_t i = 0; i < here; i++) {
      Bits found;
      std::memcpy(&found, block + i * sizeof(Bits), sizeof(Bits));
      difference |= found ^ bitsOf<Bits, Number>(first + static_cast<int64_t>(done + i));
    }
    if (!difference) continue;
    for (size_t i = 0; i < here; i++) {
      Bits expected = bitsOf<Bits, Number>(first + static_cast<int64_t>(done + i));
      note(result, block + i * sizeof(Bits), &expected, sizeof(Bits), (done + i) * sizeof(Bits));
    }
  }
  return result;
}

}  // namespace

size_t bytesOf(NumberType type) { return type == NumberType::Int64 ? 8 : 4; }

void fillSequence(uint8_t* data, size_t bytes, NumberType type, int64_t first, bool inverted) {
  size_t count = bytes / bytesOf(type);
  if (type == NumberType::Float32) return fill<uint32_t, float>(data, count, first, inverted ? ~uint32_t{0} : 0);
  if (type == NumberType::Int32) return fill<uint32_t, int32_t>(data, count, first, inverted ? ~uint32_t{0} : 0);
  fill<uint64_t, int64_t>(data, count, first, inverted ? ~uint64_t{0} : 0);
}

Mismatch verifySequence(const uint8_t* data, size_t bytes, NumberType type, int64_t first) {
  size_t count = bytes / bytesOf(type);
  if (type == NumberType::Float32) return verify<uint32_t, float>(data, count, first);
  if (type == NumberType::Int32) return verify<uint32_t, int32_t>(data, count, first);
  return verify<uint64_t, int64_t>(data, count, first);
}

namespace {

/// One block of running numbers: where it lies and with what it begins.
struct SequenceBlock {
  size_t offset, bytes;
  int64_t first;
};

enum class SequenceTask : uint8_t { Fill, Invert, Verify };

/// Runs on a pool thread; the mapping stays alive through its own reference.
class SequenceWorker : public Napi::AsyncWorker {
 public:
  SequenceWorker(Napi::Env env, std::shared_ptr<Mapping> mapping, NumberType type, SequenceTask task,
                 std::vector<SequenceBlock> blocks)
      : AsyncWorker(env), deferred(env), mapping_(std::move(mapping)), type_(type), task_(task),
        blocks_(std::move(blocks)), found_(blocks_.size()) {}

  void Execute() override {
    for (size_t i = 0; i < blocks_.size(); i++) {
      const auto& block = blocks_[i];
      uint8_t* data = mapping_->data() + block.offset;
      if (task_ == SequenceTask::Verify) found_[i] = verifySequence(data, block.bytes, type_, block.first);
      else fillSequence(data, block.bytes, type_, block.first, task_ == SequenceTask::Invert);
    }
  }

  /// Four numbers a block: wrong bytes, and the offset, expected and found of the first.
  void OnOK() override {
    auto result = Napi::Float64Array::New(Env(), found_.size() * 4);
    for (size_t i = 0; i < found_.size(); i++) {
      result[i * 4] = static_cast<double>(found_[i].wrong);
      result[i * 4 + 1] = static_cast<double>(found_[i].offset);
      result[i * 4 + 2] = found_[i].expected;
      result[i * 4 + 3] = found_[i].found;
    }
    deferred.Resolve(result);
  }

  Napi::Promise::Deferred deferred;

 private:
  std::shared_ptr<Mapping> mapping_;
  NumberType type_;
  SequenceTask task_;
  std::vector<SequenceBlock> blocks_;
  std::vector<Mismatch> found_;
};

// (memory, type, task, blocks): blocks hold offset, bytes and first number, one after the other.
Napi::Value sequence(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto mapping = Memory::mappingOf(info[0]);
    size_t wantedType = size(info[1], "type"), wantedTask = size(info[2], "task");
    if (wantedType > 2 || wantedTask > 2) throw Fault("memory", EINVAL, "there is no such type or task");
    auto type = static_cast<NumberType>(wantedType);
    auto task = static_cast<SequenceTask>(wantedTask);
    auto numbers = doubles(info[3], "blocks");
    auto whole = [&](size_t i) { return size(info.Env(), numbers[i], "a number of a block"); };
    std::vector<SequenceBlock> blocks;
    for (size_t i = 0; i + 2 < numbers.ElementLength(); i += 3) {
      SequenceBlock block{whole(i), whole(i + 1), static_cast<int64_t>(whole(i + 2))};
      bool inside = block.offset <= mapping->bytes() && block.bytes <= mapping->bytes() - block.offset;
      if (!inside || block.bytes % bytesOf(type) != 0) throw Fault("memory", ERANGE, "a block is outside the buffer");
      blocks.push_back(block);
    }
    auto* worker = new SequenceWorker(info.Env(), std::move(mapping), type, task, std::move(blocks));
    auto promise = worker->deferred.Promise();
    worker->Queue();
    return promise;
  });
}

}  // namespace

void defineSequence(Napi::Env env, Napi::Object exports) {
  exports.Set("sequence", Napi::Function::New<sequence>(env));
}

}  // namespace weft
