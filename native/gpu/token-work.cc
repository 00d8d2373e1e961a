#include "token-work.h"

#include <algorithm>
#include <cerrno>
#include <limits>

#include "../fault.h"

namespace weft {

namespace {

/// Long parts are cut, so that no warp works longer than the others, at addresses of the target where whole lines of
/// memory start.
constexpr uint64_t kPieceBytes = 4096, kLineBytes = 128;
/// Beyond 16 GiB the pieces of a list grow, not their number.
constexpr uint64_t kUsualPieces = 1 << 22;
constexpr unsigned kCopyThreads = 256, kSumThreads = 128;
/// What the threads of a block take in one turn.
constexpr uint64_t kSumBytes = kSumThreads * kVectorBytes;
/// The most blocks of a launch: 2^31 - 1. Kernels take more work than they have blocks in turns.
constexpr uint64_t kMostBlocks = std::numeric_limits<int32_t>::max();

unsigned gridFor(uint64_t work, uint64_t perBlock) {
  return static_cast<unsigned>(std::min((work + perBlock - 1) / perBlock, kMostBlocks));
}

void upload(const DeviceMemory& memory, uint64_t offset, const void* from, size_t bytes) {
  if (bytes == 0) return;
  CudaCurrent current(*memory.context());
  Stream stream(memory.context());
  WEFT_CU(cuMemcpyHtoDAsync, memory.pointer() + offset, from, bytes, stream.handle());
  stream.synchronize();
}

/// Bytes of an element.
uint64_t widthOf(const std::string& dtype) {
  if (dtype == "float32") return 4;
  if (dtype == "float16" || dtype == "bfloat16") return 2;
  throw Fault("arguments", EINVAL, "unknown type of numbers: " + dtype);
}

}  // namespace

PartLists::PartLists(GpuContextPtr context) : context_(std::move(context)) {}

PartLists::List PartLists::add(const std::vector<CopyPart>& parts) {
  uint64_t first = pieces_.size(), total = 0;
  for (const CopyPart& part : parts) total += part.bytes;
  uint64_t pieceBytes = std::max(kPieceBytes, total / kUsualPieces / kLineBytes * kLineBytes);
  for (CopyPart part : parts) {
    while (part.bytes > 0) {
      uint64_t bytes = std::min(part.bytes, pieceBytes - part.to % kLineBytes);
      pieces_.push_back({part.from, part.to, bytes});
      part = {part.from + bytes, part.to + bytes, part.bytes - bytes};
    }
  }
  return {first, pieces_.size() - first};
}

void PartLists::upload() {
  size_t bytes = pieces_.size() * sizeof(CopyPart);
  uploaded_ = std::make_unique<DeviceMemory>(context_, bytes);
  weft::upload(*uploaded_, 0, pieces_.data(), bytes);
  pieces_ = {};
  function_ = kernel(*context_, "tokens", "weft_copy_parts");
}

void PartLists::enqueue(const List& list, CuPointer to, CuPointer from, const Stream& stream) const {
  if (list.count == 0) return;
  CuPointer pieces = uploaded_->pointer() + list.first * sizeof(CopyPart);
  launch(function_, gridFor(list.count, kCopyThreads / kWarpThreads), kCopyThreads, stream, to, from, pieces, list.count);
}

SumLists::SumLists(GpuContextPtr context, std::vector<SumAddend> addends)
    : context_(std::move(context)), addends_(std::move(addends)) {}

SumLists::List SumLists::add(const std::string& dtype, const std::vector<Sum>& sums) {
  const uint64_t first = pieces_.size(), width = widthOf(dtype);
  for (const Sum& sum : sums) {
    for (uint64_t skip = 0; skip < sum.bytes; skip += kSumBytes) {
      const uint64_t bytes = std::min(kSumBytes, sum.bytes - skip);
      SumPiece piece{reinterpret_cast<uint8_t*>(sum.to + skip), skip, sum.firstAddend, sum.addends, uint32_t(bytes / width), 0};
      piece.vectors = inVectors(piece, bytes);
      pieces_.push_back(piece);
    }
  }
  return {kernel(*context_, "tokens", "weft_add_" + dtype), first, pieces_.size() - first};
}

bool SumLists::inVectors(const SumPiece& piece, uint64_t bytes) const {
  uint64_t places = reinterpret_cast<uint64_t>(piece.to) | bytes;
  for (uint32_t i = 0; i < piece.addends; i++) {
    places |= reinterpret_cast<uint64_t>(addends_[piece.firstAddend + i].from) + piece.skip;
  }
  return places % kVectorBytes == 0;
}

void SumLists::upload() {
  size_t pieceBytes = pieces_.size() * sizeof(SumPiece);
  addendBytes_ = addends_.size() * sizeof(SumAddend);
  uploaded_ = std::make_unique<DeviceMemory>(context_, addendBytes_ + pieceBytes);
  weft::upload(*uploaded_, 0, addends_.data(), addendBytes_);
  weft::upload(*uploaded_, addendBytes_, pieces_.data(), pieceBytes);
  addends_ = {};
  pieces_ = {};
}

void SumLists::enqueue(const List& list, const Stream& stream) const {
  if (list.count == 0) return;
  CuPointer addends = uploaded_->pointer(), pieces = addends + addendBytes_ + list.first * sizeof(SumPiece);
  launch(list.function, gridFor(list.count, 1), kSumThreads, stream, pieces, addends, list.count);
}

PartsCopy::PartsCopy(GpuContextPtr context, const std::vector<CopyPart>& parts)
    : lists_(std::move(context)), list_(lists_.add(parts)) {
  for (const CopyPart& part : parts) {
    toBytes_ = std::max(toBytes_, part.to + part.bytes);
    fromBytes_ = std::max(fromBytes_, part.from + part.bytes);
  }
  lists_.upload();
}

void PartsCopy::enqueue(CuPointer to, CuPointer from, const Stream& stream) const {
  lists_.enqueue(list_, to, from, stream);
}

RowSumWork::RowSumWork(const GpuContextPtr& context, const std::string& dtype, uint32_t elements, uint32_t addends,
                       const std::vector<int32_t>& index, const std::vector<float>& weights)
    : elements_(elements), addends_(addends) {
  if (addends == 0 || addends > kMostAddends) throw Fault("arguments", EINVAL, "a sum has 1 to 16 addends");
  if (index.size() % addends != 0 || weights.size() != index.size()) {
    throw Fault("arguments", EINVAL, "index and weights must have an entry for each addend of each token");
  }
  tokens_ = index.size() / addends;
  rowBytes_ = elements * widthOf(dtype);
  for (int32_t row : index) rows_ = std::max<uint64_t>(rows_, row < 0 ? 0 : uint64_t(row) + 1);
  size_t listBytes = weights.size() * sizeof(float);
  lists_ = std::make_unique<DeviceMemory>(context, 2 * listBytes);
  weft::upload(*lists_, 0, weights.data(), listBytes);
  weft::upload(*lists_, listBytes, index.data(), listBytes);
  function_ = kernel(*context, "tokens", "weft_sum_" + dtype);
}

void RowSumWork::enqueue(CuPointer to, CuPointer from, const Stream& stream) const {
  if (toBytes() == 0) return;
  CuPointer weights = lists_->pointer(), index = weights + tokens_ * addends_ * sizeof(float);
  RowSums sums{reinterpret_cast<uint8_t*>(to),       reinterpret_cast<const uint8_t*>(from),
               reinterpret_cast<const int32_t*>(index), reinterpret_cast<const float*>(weights),
               tokens_, addends_, elements_};
  uint64_t tiles = (rowBytes_ + kSumBytes - 1) / kSumBytes;
  launch(function_, gridFor(tiles * tokens_, 1), kSumThreads, stream, sums);
}

}  // namespace weft
