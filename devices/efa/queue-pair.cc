#include "queue-pair.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "inside.h"
#include "link.h"

namespace efa {
namespace {

// Ports above those that the kernel hands out by itself, so that a queue pair takes nobody's port.
constexpr uint16_t kFirstPort = 61001;
constexpr uint16_t kPorts = 65535 - kFirstPort;

constexpr uint64_t kWriteOperations = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
constexpr uint64_t kOperations =
    kWriteOperations | IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ;

int next_port() {
  static std::atomic<uint32_t> next{static_cast<uint32_t>(now_ns() / 1000 + static_cast<uint64_t>(getpid()) * 97)};
  return kFirstPort + static_cast<int>(next++ % kPorts);
}

bool is_supported(const Attributes& device, const ibv_qp_init_attr_ex& attr, const QpInitAttr& efa) {
  const uint64_t wanted = (attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) ? attr.send_ops_flags : 0;
  if (attr.qp_type != IBV_QPT_DRIVER || attr.srq != nullptr || (wanted & ~kOperations) != 0) return false;
  if ((wanted & IBV_QP_EX_WITH_RDMA_READ) && !(device.caps & kCapRead)) return false;
  if ((wanted & kWriteOperations) && !(device.caps & kCapWrite)) return false;
  return !(efa.flags & kQpUnsolicitedWriteRecv) || (device.caps & kCapUnsolicited);
}

}  // namespace

QueuePair::QueuePair(Context& context, const ibv_qp_init_attr_ex& attr, const QpInitAttr& efa)
    : context(context),
      unsolicited((efa.flags & kQpUnsolicitedWriteRecv) != 0),
      send_depth_(attr.cap.max_send_wr),
      receive_depth_(attr.cap.max_recv_wr),
      // Callers that know writes or sends with immediates also know the opcode of reads; older ones expect a send's.
      reads_have_opcode_((attr.send_ops_flags & (kWriteOperations | IBV_QP_EX_WITH_SEND_WITH_IMM)) != 0),
      chance_(context.attributes.seed + 1) {
  verbs.owner = this;
  ibv_qp& qp = ex.qp_base;
  qp.context = &context.verbs.context;
  qp.qp_context = attr.qp_context;
  qp.pd = attr.pd;
  qp.send_cq = attr.send_cq;
  qp.recv_cq = attr.recv_cq;
  qp.qp_type = attr.qp_type;
  qp.state = IBV_QPS_RESET;
  set_posting_functions(ex);
}

QueuePair::~QueuePair() {
  if (listener_ >= 0) close(listener_);
}

int QueuePair::listen() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) return errno;
  const int yes = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr = context.attributes.address;
  for (int tries = 0; tries < kPorts; tries++) {
    at.sin_port = htons(static_cast<uint16_t>(next_port()));
    // Two sockets may bind the same port until one of them listens: both calls decide.
    if (bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0) {
      if (::listen(listener_, 1024) == 0) {
        ex.qp_base.qp_num = ntohs(at.sin_port);
        return context.engine.watch(listener_, EPOLLIN, this) ? 0 : errno;
      }
      close(listener_);
      return listen();
    }
    if (errno != EADDRINUSE) return errno;
  }
  return EADDRINUSE;
}

int QueuePair::modify(const ibv_qp_attr& attr, int mask) {
  auto locked = context.engine.lock();
  if (mask & IBV_QP_QKEY) qkey = attr.qkey;
  if (mask & IBV_QP_RNR_RETRY) {
    if (!(context.attributes.caps & kCapRnrRetry)) return EOPNOTSUPP;
    rnr_retry = attr.rnr_retry;
  }
  if (mask & IBV_QP_STATE) ex.qp_base.state = attr.qp_state;
  return 0;
}

bool QueuePair::take_receive(Receive& into) {
  std::lock_guard lock(receive_lock_);
  if (receives_.empty()) return false;
  into = receives_.front();
  receives_.pop_front();
  return true;
}

int QueuePair::post_receive(const ibv_recv_wr& wr) {
  Inside inside;
  if (wr.num_sge < 0 || wr.num_sge > context.attributes.rq_sge) return EINVAL;
  if (receives_outstanding_.fetch_add(1) >= receive_depth_) {
    receives_outstanding_--;
    return ENOMEM;
  }
  Receive receive{wr.wr_id, static_cast<uint8_t>(wr.num_sge), {}};
  for (int i = 0; i < wr.num_sge; i++) receive.sge[static_cast<size_t>(i)] = wr.sg_list[i];
  std::lock_guard lock(receive_lock_);
  receives_.push_back(receive);
  return 0;
}

void QueuePair::polled(const Completion& completion) {
  if (completion.opcode & IBV_WC_RECV) receives_outstanding_ -= completion.frees_receive ? 1 : 0;
  else sends_outstanding_--;
}

ibv_qp* create_queue_pair(ibv_context* verbs, ibv_qp_init_attr_ex& attr, const QpInitAttr& efa) {
  Context& context = Context::of(verbs);
  const Attributes& limits = context.attributes;
  if (!is_supported(limits, attr, efa)) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  if (attr.cap.max_send_wr > limits.sq_depth || attr.cap.max_recv_wr > limits.rq_depth ||
      attr.cap.max_inline_data > limits.inline_bytes) {
    errno = EINVAL;
    return nullptr;
  }
  context.faults.refresh(now_ns());
  if (context.faults.queues) {
    errno = ENOMEM;
    return nullptr;
  }
  auto* qp = new QueuePair(context, attr, efa);
  auto locked = context.engine.lock();
  int error = context.engine.add(qp);
  if (error == 0) error = qp->listen();
  if (error != 0) {
    context.engine.remove(qp);
    delete qp;
    errno = error;
    return nullptr;
  }
  return &qp->ex.qp_base;
}

int destroy_queue_pair(ibv_qp* verbs) {
  QueuePair& qp = QueuePair::of(verbs);
  {
    auto locked = qp.context.engine.lock();
    qp.context.engine.remove(&qp);
    CompletionQueue::of(verbs->send_cq).purge(&qp);
    CompletionQueue::of(verbs->recv_cq).purge(&qp);
  }
  delete &qp;
  return 0;
}

}  // namespace efa
