// The posting interface of verbs: lists of work requests, and work requests built call by call.
#include <cerrno>
#include <cstring>

#include "queue-pair.h"

namespace efa {
namespace {

QueuePair& of(ibv_qp_ex* qp) { return QueuePair::of(qp); }

WorkRequest& stage(ibv_qp_ex* qp, Operation operation) {
  WorkRequest& work = of(qp).stage(operation);
  work.wr_id = qp->wr_id;
  return work;
}

void set_remote(WorkRequest& work, uint32_t key, uint64_t address) {
  work.key = key;
  work.address = address;
}

void set_immediate(WorkRequest& work, __be32 immediate) {
  work.has_immediate = true;
  work.immediate = immediate;
}

void set_target(WorkRequest& work, ibv_ah* ah, uint32_t qp, uint32_t qkey) {
  work.target = reinterpret_cast<AddressHandle*>(ah)->gid;
  work.target_qp = static_cast<uint16_t>(qp);
  work.qkey = qkey;
}

void set_sges(QueuePair& qp, WorkRequest& work, size_t count, const ibv_sge* list) {
  const Attributes& limits = qp.context.attributes;
  if (count > (work.operation == Operation::send ? limits.sq_sge : kMaxSge)) return qp.refuse(EINVAL);
  work.sge_count = static_cast<uint8_t>(count);
  for (size_t i = 0; i < count; i++) {
    work.sge[i] = list[i];
    work.total += list[i].length;
  }
}

void add_inline(QueuePair& qp, WorkRequest& work, const void* data, size_t length) {
  if (work.total + length > qp.context.attributes.inline_bytes) return qp.refuse(EINVAL);
  work.is_inline = true;
  std::memcpy(work.inline_data.data() + work.total, data, length);
  work.total += length;
}

void wr_start(ibv_qp_ex* qp) { of(qp).begin_batch(); }
int wr_complete(ibv_qp_ex* qp) { return of(qp).end_batch(); }
void wr_abort(ibv_qp_ex* qp) { of(qp).abort_batch(); }

void wr_send(ibv_qp_ex* qp) { stage(qp, Operation::send); }
void wr_send_imm(ibv_qp_ex* qp, __be32 immediate) { set_immediate(stage(qp, Operation::send), immediate); }
void wr_rdma_read(ibv_qp_ex* qp, uint32_t key, uint64_t address) {
  set_remote(stage(qp, Operation::read), key, address);
}
void wr_rdma_write(ibv_qp_ex* qp, uint32_t key, uint64_t address) {
  set_remote(stage(qp, Operation::write), key, address);
}
void wr_rdma_write_imm(ibv_qp_ex* qp, uint32_t key, uint64_t address, __be32 immediate) {
  WorkRequest& work = stage(qp, Operation::write);
  set_remote(work, key, address);
  set_immediate(work, immediate);
}

void wr_set_ud_addr(ibv_qp_ex* qp, ibv_ah* ah, uint32_t target_qp, uint32_t qkey) {
  set_target(of(qp).staged(), ah, target_qp, qkey);
}
void wr_set_sge(ibv_qp_ex* qp, uint32_t lkey, uint64_t address, uint32_t length) {
  const ibv_sge sge{address, length, lkey};
  set_sges(of(qp), of(qp).staged(), 1, &sge);
}
void wr_set_sge_list(ibv_qp_ex* qp, size_t count, const ibv_sge* list) {
  set_sges(of(qp), of(qp).staged(), count, list);
}
void wr_set_inline_data(ibv_qp_ex* qp, void* data, size_t length) {
  add_inline(of(qp), of(qp).staged(), data, length);
}
void wr_set_inline_data_list(ibv_qp_ex* qp, size_t count, const ibv_data_buf* list) {
  for (size_t i = 0; i < count; i++) add_inline(of(qp), of(qp).staged(), list[i].addr, list[i].length);
}

bool stage_listed(QueuePair& qp, const ibv_send_wr& wr) {
  Operation operation;
  switch (wr.opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM: operation = Operation::send; break;
    default: return false;
  }
  WorkRequest& work = qp.stage(operation);
  work.wr_id = wr.wr_id;
  if (wr.opcode == IBV_WR_SEND_WITH_IMM) set_immediate(work, wr.imm_data);
  if (wr.send_flags & IBV_SEND_INLINE) {
    for (int i = 0; i < wr.num_sge; i++) {
      add_inline(qp, work, reinterpret_cast<void*>(wr.sg_list[i].addr), wr.sg_list[i].length);
    }
  } else {
    set_sges(qp, work, static_cast<size_t>(wr.num_sge), wr.sg_list);
  }
  set_target(work, wr.wr.ud.ah, wr.wr.ud.remote_qpn, wr.wr.ud.remote_qkey);
  return true;
}

}  // namespace

void set_posting_functions(ibv_qp_ex& qp) {
  qp.wr_start = wr_start;
  qp.wr_complete = wr_complete;
  qp.wr_abort = wr_abort;
  qp.wr_send = wr_send;
  qp.wr_send_imm = wr_send_imm;
  qp.wr_rdma_read = wr_rdma_read;
  qp.wr_rdma_write = wr_rdma_write;
  qp.wr_rdma_write_imm = wr_rdma_write_imm;
  qp.wr_set_ud_addr = wr_set_ud_addr;
  qp.wr_set_sge = wr_set_sge;
  qp.wr_set_sge_list = wr_set_sge_list;
  qp.wr_set_inline_data = wr_set_inline_data;
  qp.wr_set_inline_data_list = wr_set_inline_data_list;
}

int post_send_list(ibv_qp* verbs_qp, ibv_send_wr* wr, ibv_send_wr** bad) {
  QueuePair& qp = QueuePair::of(verbs_qp);
  for (; wr != nullptr; wr = wr->next) {
    qp.begin_batch();
    if (!stage_listed(qp, *wr)) qp.refuse(EINVAL);
    if (const int error = qp.end_batch(); error != 0) {
      *bad = wr;
      return error;
    }
  }
  return 0;
}

int post_receive_list(ibv_qp* verbs_qp, ibv_recv_wr* wr, ibv_recv_wr** bad) {
  QueuePair& qp = QueuePair::of(verbs_qp);
  for (; wr != nullptr; wr = wr->next) {
    if (const int error = qp.post_receive(*wr); error != 0) {
      *bad = wr;
      return error;
    }
  }
  return 0;
}

}  // namespace efa
