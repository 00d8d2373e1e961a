// The way of a work request from the caller's batch to the link that carries it, and back as a completion.
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "inside.h"
#include "link.h"
#include "queue-pair.h"

namespace efa {

void QueuePair::begin_batch() {
  Inside::enter();
  batch_lock_.lock();
  batch_error_ = 0;
  batch_.clear();
}

WorkRequest& QueuePair::stage(Operation operation) {
  WorkRequest& work = batch_.emplace_back();
  work.operation = operation;
  return work;
}

void QueuePair::abort_batch() {
  batch_.clear();
  batch_lock_.unlock();
  Inside::leave();
}

int QueuePair::end_batch() {
  int error = batch_error_;
  const auto count = static_cast<uint32_t>(batch_.size());
  context.faults.refresh(coarse_now_ns());
  if (error == 0 && ex.qp_base.state != IBV_QPS_RTS) error = EINVAL;
  if (error == 0 && context.faults.overrun && chance_.percent(50)) error = ENOMEM;
  if (error == 0 && sends_outstanding_.fetch_add(count) + count > send_depth_) {
    sends_outstanding_ -= count;
    error = ENOMEM;
  }
  if (error == 0) {
    std::lock_guard lock(submit_lock_);
    submitted_.insert(submitted_.end(), batch_.begin(), batch_.end());
    has_submissions_ = true;
  }
  batch_.clear();
  batch_lock_.unlock();
  Inside::leave();
  if (error == 0) context.engine.wake();
  return error;
}

void QueuePair::route_submissions() {
  if (!has_submissions_.exchange(false)) return;
  {
    std::lock_guard lock(submit_lock_);
    routing_.swap(submitted_);
  }
  for (const WorkRequest& work : routing_) {
    Status status = check(work);
    if (status == kOk) {
      if (Link* link = link_to(work); link != nullptr) link->submit(work);
      else status = kUnresponsiveRemote;
    }
    if (status != kOk) complete(work, status);
  }
  routing_.clear();
}

Status QueuePair::check(const WorkRequest& work) const {
  const Attributes& limits = context.attributes;
  if (const uint16_t fault = context.faults.error; fault != 0) return static_cast<Status>(fault);
  if (work.operation == Operation::write && !(limits.caps & kCapWrite)) return kLocalInvalidOperation;
  if (work.operation == Operation::read && !(limits.caps & kCapRead)) return kLocalInvalidOperation;
  if (work.total > (work.operation == Operation::send ? limits.mtu : limits.max_rdma)) return kLocalBadLength;
  auto held = context.memory.hold();
  for (size_t i = 0; !work.is_inline && i < work.sge_count; i++) {
    const ibv_sge& sge = work.sge[i];
    if (sge.length != 0 && context.memory.find(sge.lkey, sge.addr, sge.length, 0) == nullptr) {
      return kLocalInvalidLkey;
    }
  }
  return kOk;
}

Link* QueuePair::link_to(const WorkRequest& work) {
  const in_addr address = address_of(work.target);
  const uint64_t name = static_cast<uint64_t>(address.s_addr) << 16 | work.target_qp;
  if (auto at = peers_.find(name); at != peers_.end()) return at->second;
  auto link = std::make_unique<Link>(*this, work.target, work.target_qp);
  Link* raw = link.get();
  peers_[name] = raw;
  context.engine.adopt(std::move(link));
  return raw;
}

void QueuePair::forget(const Link* link) {
  std::erase_if(peers_, [link](const auto& each) { return each.second == link; });
}

void QueuePair::complete(const WorkRequest& work, Status status) {
  Counters& counters = context.counters;
  const bool ok = status == kOk;
  ibv_wc_opcode opcode = IBV_WC_SEND;
  switch (work.operation) {
    case Operation::send:
      if (ok) counters.add(kSendRequests, 1), counters.add(kSendBytes, work.total);
      break;
    case Operation::write:
      opcode = IBV_WC_RDMA_WRITE;
      counters.add(ok ? kWriteRequests : kWriteErrors, 1);
      if (ok) counters.add(kWriteBytes, work.total);
      break;
    case Operation::read:
      if (reads_have_opcode_) opcode = IBV_WC_RDMA_READ;
      counters.add(ok ? kReadRequests : kReadErrors, 1);
      if (ok) counters.add(kReadBytes, work.total);
      break;
  }
  Completion completion{};
  completion.wr_id = work.wr_id;
  completion.qp = this;
  completion.opcode = opcode;
  completion.status = status;
  completion.byte_len = static_cast<uint32_t>(work.total);
  CompletionQueue::of(ex.qp_base.send_cq).push(completion);
}

void QueuePair::on_ready(uint32_t) {
  for (int tries = 0; tries < 64; tries++) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      // Without descriptors left, peers wait until others close; do not spin meanwhile.
      if (errno == EMFILE || errno == ENFILE) usleep(1000);
      return;
    }
    context.engine.adopt(std::make_unique<Link>(*this, fd));
  }
}

}  // namespace efa
