// Queue pairs: what is posted to them, and the links to their peers.
#pragma once
#include <infiniband/verbs.h>

#include <atomic>
#include <deque>
#include <unordered_map>
#include <vector>

#include "completion-queue.h"
#include "context.h"
#include "work-request.h"

namespace efa {

/// What callers hold a pointer to.
struct VerbsQueuePair {
  ibv_qp_ex ex{};
  QueuePair* owner = nullptr;
};

class QueuePair : public Pollable {
 public:
  QueuePair(Context& context, const ibv_qp_init_attr_ex& attr, const QpInitAttr& efa);
  ~QueuePair() override;

  VerbsQueuePair verbs;
  ibv_qp_ex& ex = verbs.ex;
  static QueuePair& of(void* qp) { return *static_cast<VerbsQueuePair*>(qp)->owner; }

  /// Binds the listener whose port is the number of this queue pair. Returns an errno.
  int listen();
  int modify(const ibv_qp_attr& attr, int mask);

  // Posting, from the application's threads. The first refusal of a batch refuses the whole batch.
  void begin_batch();
  WorkRequest& stage(Operation operation);
  void refuse(int error) { batch_error_ = batch_error_ != 0 ? batch_error_ : error; }
  int end_batch();
  void abort_batch();
  int post_receive(const ibv_recv_wr& wr);
  WorkRequest& staged() { return batch_.back(); }

  /// From the thread that polls: the completion gives its place in a queue back.
  void polled(const Completion& completion);

  // For the device, with its lock held.
  void route_submissions();
  void on_ready(uint32_t events) override;  // a peer connects
  bool take_receive(Receive& into);
  void complete(const WorkRequest& work, Status status);
  void forget(const Link* link);

  Context& context;
  uint32_t qkey = 0;
  uint8_t rnr_retry = 7;
  const bool unsolicited;  // immediates of writes need no posted receive

 private:
  Link* link_to(const WorkRequest& work);
  Status check(const WorkRequest& work) const;

  const uint32_t send_depth_;
  const uint32_t receive_depth_;
  const bool reads_have_opcode_;

  Spin batch_lock_;
  std::vector<WorkRequest> batch_;
  int batch_error_ = 0;
  Random chance_;

  Spin submit_lock_;
  std::vector<WorkRequest> submitted_;
  std::vector<WorkRequest> routing_;
  std::atomic<bool> has_submissions_{false};
  std::atomic<uint32_t> sends_outstanding_{0};

  Spin receive_lock_;
  std::deque<Receive> receives_;
  std::atomic<uint32_t> receives_outstanding_{0};

  int listener_ = -1;
  std::unordered_map<uint64_t, Link*> peers_;
};

ibv_qp* create_queue_pair(ibv_context* context, ibv_qp_init_attr_ex& attr, const QpInitAttr& efa);
int destroy_queue_pair(ibv_qp* qp);
/// Fills the functions through which applications post.
void set_posting_functions(ibv_qp_ex& qp);
int post_send_list(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad);
int post_receive_list(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad);

}  // namespace efa
