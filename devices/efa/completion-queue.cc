#include "completion-queue.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "context.h"
#include "inside.h"
#include "queue-pair.h"

namespace efa {
namespace {

ibv_wc_status general_status(uint16_t status) {
  switch (status) {
    case kOk: return IBV_WC_SUCCESS;
    case kFlushed: return IBV_WC_WR_FLUSH_ERR;
    case kLocalInvalidOperation:
    case 2: return IBV_WC_LOC_QP_OP_ERR;
    case kLocalInvalidLkey: return IBV_WC_LOC_PROT_ERR;
    case kLocalBadLength: return IBV_WC_LOC_LEN_ERR;
    case kRemoteAbort: return IBV_WC_REM_ABORT_ERR;
    case kRemoteNotReady: return IBV_WC_RNR_RETRY_EXC_ERR;
    case kRemoteBadQueuePair: return IBV_WC_REM_INV_RD_REQ_ERR;
    case kRemoteBadAddress: return IBV_WC_REM_ACCESS_ERR;
    case kRemoteBadLength: return IBV_WC_REM_INV_REQ_ERR;
    case kUnresponsiveRemote: return IBV_WC_RESP_TIMEOUT_ERR;
    case kRemoteUnknownPeer: return IBV_WC_REM_OP_ERR;
    default: return IBV_WC_GENERAL_ERR;
  }
}

int next(ibv_cq_ex* cq) { return CompletionQueue::of(cq).advance() ? 0 : ENOENT; }
int start(ibv_cq_ex* cq, ibv_poll_cq_attr* attr) { return attr != nullptr && attr->comp_mask != 0 ? EINVAL : next(cq); }
void end(ibv_cq_ex*) {}

const Completion& current(ibv_cq_ex* cq) { return CompletionQueue::of(cq).current; }
ibv_wc_opcode read_opcode(ibv_cq_ex* cq) { return current(cq).opcode; }
uint32_t read_vendor_err(ibv_cq_ex* cq) { return current(cq).status; }
uint32_t read_byte_len(ibv_cq_ex* cq) { return current(cq).byte_len; }
__be32 read_imm_data(ibv_cq_ex* cq) { return current(cq).immediate; }
uint32_t read_qp_num(ibv_cq_ex* cq) { return current(cq).qp->ex.qp_base.qp_num; }
uint32_t read_src_qp(ibv_cq_ex* cq) { return current(cq).src_qp; }
unsigned read_wc_flags(ibv_cq_ex* cq) { return current(cq).flags; }
uint32_t read_slid(ibv_cq_ex* cq) { return current(cq).ah; }
uint8_t read_zero(ibv_cq_ex*) { return 0; }

/// Only for a peer without an address handle, as on the hardware.
int read_sgid(efadv_cq* extension, ibv_gid* gid) {
  const Completion& completion = CompletionQueue::of_extension(extension).current;
  if (completion.ah != kUnknownAh) return -ENOENT;
  std::memcpy(gid->raw, completion.source.data(), sizeof gid->raw);
  return 0;
}
bool is_unsolicited(efadv_cq* extension) { return CompletionQueue::of_extension(extension).current.unsolicited; }

}  // namespace

void CompletionQueue::push(const Completion& completion) {
  std::lock_guard lock(lock_);
  entries_.push_back(completion);
  count_.store(entries_.size(), std::memory_order_release);
  if (armed_) notify();
}

bool CompletionQueue::advance() {
  Inside inside;
  if (count_.load(std::memory_order_acquire) == 0) {
    engine_->assist();
    if (count_.load(std::memory_order_acquire) == 0) return false;
  }
  {
    std::lock_guard lock(lock_);
    if (entries_.empty()) return false;
    current = entries_.front();
    entries_.pop_front();
    count_.store(entries_.size(), std::memory_order_relaxed);
  }
  ex.wr_id = current.wr_id;
  ex.status = general_status(current.status);
  current.qp->polled(current);
  return true;
}

void CompletionQueue::purge(const QueuePair* qp) {
  std::lock_guard lock(lock_);
  std::erase_if(entries_, [qp](const Completion& each) { return each.qp == qp; });
  count_.store(entries_.size(), std::memory_order_relaxed);
}

void CompletionQueue::request_notification() {
  std::lock_guard lock(lock_);
  armed_ = ex.channel != nullptr;
}

/// The channel is a pipe of pointers. A full pipe already wakes its reader.
void CompletionQueue::notify() {
  armed_ = false;
  void* self = &verbs;
  if (write(CompletionChannel::of(ex.channel).writing_end, &self, sizeof self) < 0) return;
}

ibv_cq_ex* create_completion_queue(ibv_context* context, const ibv_cq_init_attr_ex& attr, const CqInitAttr* efa) {
  const uint32_t caps = Context::of(context).attributes.caps;
  const uint64_t wanted = efa != nullptr ? efa->wc_flags : 0;
  if (((wanted & kWcWithSgid) && !(caps & kCapSourceGid)) ||
      ((wanted & kWcWithIsUnsolicited) && !(caps & kCapUnsolicited)) || (efa != nullptr && efa->flags != 0)) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  auto* cq = new CompletionQueue(Context::of(context).engine);
  cq->verbs.owner = cq->extension.owner = cq;
  ibv_cq_ex& ex = cq->ex;
  ex.context = context;
  ex.channel = attr.channel;
  ex.cq_context = attr.cq_context;
  ex.cqe = static_cast<int>(attr.cqe);
  ex.start_poll = start;
  ex.next_poll = next;
  ex.end_poll = end;
  ex.read_opcode = read_opcode;
  ex.read_vendor_err = read_vendor_err;
  ex.read_byte_len = read_byte_len;
  ex.read_imm_data = read_imm_data;
  ex.read_qp_num = read_qp_num;
  ex.read_src_qp = read_src_qp;
  ex.read_wc_flags = read_wc_flags;
  ex.read_slid = read_slid;
  ex.read_sl = read_zero;
  ex.read_dlid_path_bits = read_zero;
  cq->extension.functions.wc_read_sgid = read_sgid;
  cq->extension.functions.wc_is_unsolicited = is_unsolicited;
  if (attr.channel != nullptr) attr.channel->refcnt++;
  return &ex;
}

int destroy_completion_queue(ibv_cq* cq) {
  CompletionQueue& self = CompletionQueue::of(cq);
  if (self.ex.channel != nullptr) self.ex.channel->refcnt--;
  delete &self;
  return 0;
}

int poll_completions(ibv_cq* cq, int entries, ibv_wc* into) {
  CompletionQueue& self = CompletionQueue::of(cq);
  int taken = 0;
  for (; taken < entries && self.advance(); taken++) {
    const Completion& from = self.current;
    into[taken] = {};
    into[taken].wr_id = from.wr_id;
    into[taken].status = self.ex.status;
    into[taken].opcode = from.opcode;
    into[taken].vendor_err = from.status;
    into[taken].byte_len = from.byte_len;
    into[taken].imm_data = from.immediate;
    into[taken].qp_num = from.qp->ex.qp_base.qp_num;
    into[taken].src_qp = from.src_qp;
    into[taken].wc_flags = from.flags;
    into[taken].slid = from.ah;
  }
  return taken;
}

}  // namespace efa
