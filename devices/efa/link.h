// One stream between two queue pairs, and what is on its way over it.
#pragma once
#include <cstdint>

#include "inbox.h"
#include "outbox.h"
#include "queue-pair.h"

namespace efa {

/// Belongs to the engine. Everything happens with the engine's lock held.
class Link : public Pollable {
 public:
  /// Connects to a peer.
  Link(QueuePair& qp, const Gid& peer, uint16_t port);
  /// A peer has connected.
  Link(QueuePair& qp, int fd);
  ~Link() override;

  void submit(const WorkRequest& work);
  void on_ready(uint32_t events) override;
  /// Sends what can be sent, and gives up on a peer that no longer answers. True when there is more to do at once.
  bool step();
  uint64_t next_due() const;
  /// Everything outstanding completes with `status`; the link is dead.
  void fail(Status status);
  bool is_dead() const { return dead_; }
  /// The queue pair goes away: what has arrived is still acknowledged.
  void finish();
  /// Time that passed while the device was silent is nobody's fault.
  void forgive();

  // For the inbox.
  void acknowledge(uint32_t message, Status status) { outbox_.acknowledge(message, status); }
  void post_read_data(const Frame& request) { outbox_.post_read_data(request); }
  Message* find(uint32_t message) { return outbox_.find(message); }
  void answered(uint32_t message, Status status);

  QueuePair& qp;

 private:
  void connect();
  void connected();
  void disconnected(int error);
  bool receive();
  bool flush();
  void check_progress();
  uint64_t bytes_acknowledged() const;
  void wait_for(uint32_t events);

  const Gid peer_{};
  const uint16_t port_ = 0;
  int fd_ = -1;
  bool connecting_ = false;
  bool dead_ = false;
  uint32_t events_ = 0;
  uint64_t connect_at_ = 0;  // when to try, of a link without a socket
  uint64_t checked_at_ = 0;
  uint64_t progress_at_ = 0;
  uint64_t acknowledged_ = 0;
  Outbox outbox_;
  Inbox inbox_{*this};
};

}  // namespace efa
