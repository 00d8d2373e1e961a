#pragma once
// What kernels/tokens.cu does, from lists that are put into GPU memory once and used often.
#include <string>
#include <vector>

#include "cuda-owners.h"
#include "token-layout.h"

namespace weft {

/// Work from one buffer to another, which do not overlap. Constant once it is made: any thread may use it.
class TokenWork {
 public:
  virtual ~TokenWork() = default;
  /// Returns when the work is in the stream. The addresses are those the GPU uses.
  virtual void enqueue(CuPointer to, CuPointer from, const Stream& stream) const = 0;
  /// How large the buffers must be at least.
  virtual uint64_t toBytes() const = 0;
  virtual uint64_t fromBytes() const = 0;
};

/// Lists of parts, each copied by one kernel. Lists are added, then uploaded together; after that, any thread may
/// enqueue them. The parts of one list must not overlap in the target.
class PartLists {
 public:
  /// A list, as the pieces that its parts were cut into.
  struct List {
    uint64_t first, count;
  };

  explicit PartLists(GpuContextPtr context);

  List add(const std::vector<CopyPart>& parts);
  void upload();
  /// Offsets count from `to` and `from`, either of which may be pinned host memory. An empty list starts nothing.
  void enqueue(const List& list, CuPointer to, CuPointer from, const Stream& stream) const;

 private:
  GpuContextPtr context_;
  std::vector<CopyPart> pieces_;          // until they are uploaded
  std::unique_ptr<DeviceMemory> uploaded_;
  CuFunction function_ = nullptr;
};

/// Lists of sums, each made by one kernel: none of a list adds what another of it wrote. Lists are added, then uploaded
/// together; after that, any thread may enqueue them.
class SumLists {
 public:
  /// One sum of numbers; its addends are some of the lists' addends.
  struct Sum {
    CuPointer to;
    uint64_t bytes;
    uint32_t firstAddend, addends;
  };
  /// As the pieces that its sums were cut into.
  struct List {
    CuFunction function;
    uint64_t first, count;
  };

  SumLists(GpuContextPtr context, std::vector<SumAddend> addends);

  /// `dtype` as RowSumWork takes it. Every address and length must fit whole numbers.
  List add(const std::string& dtype, const std::vector<Sum>& sums);
  void upload();
  void enqueue(const List& list, const Stream& stream) const;

 private:
  bool inVectors(const SumPiece& piece, uint64_t bytes) const;

  GpuContextPtr context_;
  std::vector<SumAddend> addends_;  // until they are uploaded, as the pieces
  std::vector<SumPiece> pieces_;
  uint64_t addendBytes_ = 0;
  std::unique_ptr<DeviceMemory> uploaded_;  // the addends, then the pieces
};

/// One list of parts.
class PartsCopy final : public TokenWork {
 public:
  PartsCopy(GpuContextPtr context, const std::vector<CopyPart>& parts);
  void enqueue(CuPointer to, CuPointer from, const Stream& stream) const override;
  uint64_t toBytes() const override { return toBytes_; }
  uint64_t fromBytes() const override { return fromBytes_; }

 private:
  PartLists lists_;
  PartLists::List list_;
  uint64_t toBytes_ = 0, fromBytes_ = 0;
};

/// Sums of rows, as RowSums says; `index` and `weights` have `addends` entries for each token.
class RowSumWork final : public TokenWork {
 public:
  static constexpr uint32_t kMostAddends = 16;

  /// `dtype`: "float32", "float16" or "bfloat16". A Fault (EINVAL) for another, and for lists of unequal lengths.
  RowSumWork(const GpuContextPtr& context, const std::string& dtype, uint32_t elements, uint32_t addends,
             const std::vector<int32_t>& index, const std::vector<float>& weights);
  void enqueue(CuPointer to, CuPointer from, const Stream& stream) const override;
  uint64_t toBytes() const override { return tokens_ * rowBytes_; }
  uint64_t fromBytes() const override { return rows_ * rowBytes_; }

 private:
  CuFunction function_ = nullptr;
  uint32_t elements_, addends_;
  uint64_t tokens_ = 0, rowBytes_ = 0;
  uint64_t rows_ = 0;  // of the source: one more than the highest index
  std::unique_ptr<DeviceMemory> lists_;  // weights, then the index
};

}  // namespace weft
