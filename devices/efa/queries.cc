#include "queries.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "context.h"

namespace efa {
namespace {

// Callers index tables by the low bits of a queue pair's number, which is a port here.
constexpr int kMaxQueuePairs = 65536;

}  // namespace

int query_device(ibv_context* context, ibv_device_attr& into) {
  const Attributes& a = Context::of(context).attributes;
  into = {};
  snprintf(into.fw_ver, sizeof into.fw_ver, "%s", a.firmware.c_str());
  into.node_guid = into.sys_image_guid = a.guid;
  into.max_mr_size = UINT64_C(1) << 40;
  into.page_size_cap = 0xfffff000;
  into.vendor_id = a.vendor_id;
  into.vendor_part_id = a.part_id;
  into.max_qp = kMaxQueuePairs;
  into.max_qp_wr = static_cast<int>(std::min(a.sq_depth, a.rq_depth));
  into.max_sge = into.max_sge_rd = std::min(a.sq_sge, a.rq_sge);
  into.max_cq = kMaxQueuePairs;
  into.max_cqe = 1 << 20;
  into.max_mr = 1 << 20;
  into.max_pd = 1024;
  into.max_ah = 0xfffe;
  into.max_pkeys = 1;
  into.phys_port_cnt = 1;
  return 0;
}

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input*, ibv_device_attr_ex* into, size_t size) {
  std::memset(static_cast<void*>(into), 0, size);
  return query_device(context, into->orig_attr);
}

int query_port(ibv_context* context, uint8_t port, ibv_port_attr* into, size_t size) {
  if (port != 1) return EINVAL;
  const Attributes& a = Context::of(context).attributes;
  ibv_port_attr attr{};
  attr.state = IBV_PORT_ACTIVE;
  attr.max_mtu = attr.active_mtu = IBV_MTU_4096;
  attr.gid_tbl_len = 1;
  attr.max_msg_sz = a.mtu;
  attr.pkey_tbl_len = 1;
  attr.active_width = a.width;
  attr.active_speed = a.speed;
  attr.phys_state = 5;  // link up
  attr.link_layer = IBV_LINK_LAYER_UNSPECIFIED;
  std::memset(static_cast<void*>(into), 0, size);
  std::memcpy(static_cast<void*>(into), &attr, std::min(size, sizeof attr));
  return 0;
}

DeviceAttr query_efa(ibv_context* context) {
  const Attributes& a = Context::of(context).attributes;
  DeviceAttr attr{};
  attr.max_sq_wr = a.sq_depth;
  attr.max_rq_wr = a.rq_depth;
  attr.max_sq_sge = a.sq_sge;
  attr.max_rq_sge = a.rq_sge;
  attr.inline_buf_size = a.inline_bytes;
  attr.device_caps = a.caps;
  attr.max_rdma_size = a.max_rdma;
  return attr;
}

}  // namespace efa
