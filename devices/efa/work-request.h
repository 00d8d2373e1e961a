// What applications post.
#pragma once
#include <infiniband/verbs.h>

#include <array>
#include <cstdint>

#include "address-table.h"

namespace efa {

enum class Operation : uint8_t { send, write, read };

constexpr size_t kMaxSge = 2;
constexpr size_t kMaxInline = 64;

struct WorkRequest {
  uint64_t wr_id;
  Operation operation;
  bool has_immediate;
  bool is_inline;
  uint8_t sge_count;
  uint32_t immediate;
  uint64_t total;  // bytes
  std::array<ibv_sge, kMaxSge> sge;
  std::array<uint8_t, kMaxInline> inline_data;
  Gid target;
  uint16_t target_qp;
  uint32_t qkey;
  uint32_t key;      // the target's memory, of reads and writes
  uint64_t address;  // the target's memory, of reads and writes
};

struct Receive {
  uint64_t wr_id;
  uint8_t sge_count;
  std::array<ibv_sge, kMaxSge> sge;
};

}  // namespace efa
