// Parts of efadv.h that distributions' headers may lack. Structures of this interface only grow, and callers pass the
// size they know, so one layout serves every caller. Names are our own to allow both headers side by side.
#pragma once
#include <infiniband/efadv.h>

#include <cstdint>

namespace efa {

enum DeviceCaps : uint32_t {
  kCapRead = 1u << 0,
  kCapRnrRetry = 1u << 1,
  kCapSourceGid = 1u << 2,
  kCapWrite = 1u << 3,
  kCapUnsolicited = 1u << 4,
};

struct DeviceAttr {
  uint64_t comp_mask;
  uint32_t max_sq_wr;
  uint32_t max_rq_wr;
  uint16_t max_sq_sge;
  uint16_t max_rq_sge;
  uint16_t inline_buf_size;
  uint16_t inline_buf_size_ex;
  uint32_t device_caps;
  uint32_t max_rdma_size;
};

struct QpInitAttr {
  uint64_t comp_mask;
  uint32_t driver_qp_type;
  uint16_t flags;
  uint8_t sl;
  uint8_t reserved;
  uint64_t wr_flags;
};
constexpr uint16_t kQpUnsolicitedWriteRecv = 1u << 0;

struct CqInitAttr {
  uint64_t comp_mask;
  uint64_t wc_flags;
  uint64_t flags;
};
constexpr uint64_t kWcWithSgid = 1u << 0;
constexpr uint64_t kWcWithIsUnsolicited = 1u << 1;

struct CqExtension {
  uint64_t comp_mask;
  int (*wc_read_sgid)(efadv_cq*, ibv_gid*);
  bool (*wc_is_unsolicited)(efadv_cq*);
};

struct AhAttr {
  uint64_t comp_mask;
  uint16_t ahn;
  uint8_t reserved[6];
};

/// Completion statuses of the device; callers read them as the vendor's error of a completion.
enum Status : uint16_t {
  kOk = 0,
  kFlushed = 1,
  kLocalInvalidOperation = 3,
  kLocalInvalidLkey = 5,
  kLocalBadLength = 6,
  kRemoteBadAddress = 7,
  kRemoteAbort = 8,
  kRemoteBadQueuePair = 9,
  kRemoteNotReady = 10,
  kRemoteBadLength = 11,
  kRemoteBadStatus = 12,
  kUnresponsiveRemote = 13,
  kRemoteUnknownPeer = 14,
};

}  // namespace efa
