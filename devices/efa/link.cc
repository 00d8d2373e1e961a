#include "link.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace efa {
namespace {

constexpr uint64_t kConnectAgainAfter = 100 * kMillisecond;
constexpr uint64_t kRefusedPause = 50 * kMicrosecond;
constexpr int kReadsPerTurn = 4;
constexpr int kWritesPerTurn = 4;
constexpr int kFinishTries = 5;
constexpr uint8_t kRetryForEver = 7;
constexpr size_t kLargestIov = 512;
constexpr int kSendBuffer = 128 * 1024;

/// What the kernel has taken leaves in order: the less it takes, the sooner a small message follows large ones.
void set_options(int fd) {
  const int yes = 1, buffer = kSendBuffer;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
}

/// A link that is down may come back; a peer that refuses is gone.
bool may_come_back(int error) {
  return error == EHOSTUNREACH || error == ENETUNREACH || error == ENETDOWN || error == ETIMEDOUT ||
         error == EADDRNOTAVAIL;
}

}  // namespace

Link::Link(QueuePair& qp, const Gid& peer, uint16_t port)
    : qp(qp), peer_(peer), port_(port), outbox_(qp.context) {
  Hello hello{kHelloMagic, qp.ex.qp_base.qp_num, {}};
  const Gid own = gid_of(qp.context.attributes.address);
  std::memcpy(hello.source_gid, own.data(), own.size());
  outbox_.hello(hello);
  forgive();
}

Link::Link(QueuePair& qp, int fd) : qp(qp), fd_(fd), outbox_(qp.context) {
  set_options(fd_);
  forgive();
  connect_at_ = kNever;
  events_ = EPOLLIN;
  qp.context.engine.watch(fd_, events_, this);
}

Link::~Link() {
  if (fd_ >= 0) close(fd_);
}

/// Both ends bind to their device's address, so that the link of that address carries the stream.
void Link::connect() {
  connect_at_ = kNever;
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd_ < 0) return disconnected(errno);
  const int yes = 1;
  setsockopt(fd_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
  set_options(fd_);
  sockaddr_in own{}, peer{};
  own.sin_family = peer.sin_family = AF_INET;
  own.sin_addr = qp.context.attributes.address;
  peer.sin_addr = address_of(peer_);
  peer.sin_port = htons(port_);
  if (bind(fd_, reinterpret_cast<sockaddr*>(&own), sizeof own) != 0) return disconnected(errno);
  const int result = ::connect(fd_, reinterpret_cast<sockaddr*>(&peer), sizeof peer);
  if (result != 0 && errno != EINPROGRESS) return disconnected(errno);
  connecting_ = result != 0;
  events_ = connecting_ ? EPOLLOUT : EPOLLIN;
  qp.context.engine.watch(fd_, events_, this);
}

void Link::disconnected(int error) {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  if (!may_come_back(error)) return fail(kUnresponsiveRemote);
  connect_at_ = qp.context.engine.now + kConnectAgainAfter;
}

void Link::connected() {
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) return disconnected(error);
  connecting_ = false;
  forgive();
  wait_for(EPOLLIN);
}

void Link::wait_for(uint32_t events) {
  if (events == events_) return;
  events_ = events;
  qp.context.engine.change(fd_, events, this);
}

void Link::submit(const WorkRequest& work) {
  if (outbox_.outstanding() == 0) forgive();
  const uint64_t delay = qp.context.faults.delay_us * kMicrosecond;
  outbox_.post(work, delay == 0 ? 0 : qp.context.engine.now + delay);
}

void Link::answered(uint32_t id, Status status) {
  Message* message = outbox_.find(id);
  if (message == nullptr) return;
  if (status == kRemoteNotReady) {
    const uint8_t tries = message->refusals;
    if (message->refusals < UINT8_MAX) message->refusals++;
    if (qp.rnr_retry == kRetryForEver || tries < qp.rnr_retry) {
      return outbox_.repeat(*message, qp.context.engine.now + (kRefusedPause << std::min<unsigned>(tries, 6)));
    }
  }
  const WorkRequest work = message->work;
  outbox_.release(*message);
  qp.complete(work, status);
}

void Link::on_ready(uint32_t events) {
  if (dead_) return;
  if (connecting_) return connected();
  if (events & EPOLLOUT) wait_for(EPOLLIN);
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive();
}

/// False when the stream has ended.
bool Link::receive() {
  std::vector<uint8_t>& staging = qp.context.engine.staging;
  for (int reads = 0; reads < kReadsPerTurn && !dead_; reads++) {
    std::vector<uint8_t>& rest = inbox_.rest;
    const size_t before = rest.size();
    std::copy(rest.begin(), rest.end(), staging.begin());
    const ssize_t got = recv(fd_, staging.data() + before, staging.size() - before, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (got <= 0) {
      fail(kUnresponsiveRemote);
      return false;
    }
    progress_at_ = qp.context.engine.now;
    const size_t have = before + static_cast<size_t>(got);
    const size_t taken = inbox_.take(staging.data(), have);
    rest.assign(staging.data() + taken, staging.data() + have);
    if (have < staging.size() / 2) return true;
  }
  return true;
}

bool Link::step() {
  if (dead_) return false;
  const uint64_t now = qp.context.engine.now;
  if (fd_ < 0 && now >= connect_at_) connect();
  outbox_.release_delayed(now);
  if (inbox_.next_due() <= now) inbox_.release_held(now);
  const bool blocked = fd_ < 0 || connecting_ || (events_ & EPOLLOUT) != 0;
  const bool more = !dead_ && !blocked && flush();
  if (!dead_ && outbox_.outstanding() > 0) check_progress();
  return more && !dead_;
}

/// True when the socket would take more.
bool Link::flush() {
  for (int writes = 0; writes < kWritesPerTurn; writes++) {
    auto [vectors, count] = outbox_.batch();
    if (count == 0) {
      wait_for(EPOLLIN);
      return false;
    }
    msghdr header{};
    header.msg_iov = vectors;
    header.msg_iovlen = std::min(count, kLargestIov);
    const ssize_t sent = sendmsg(fd_, &header, MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
      wait_for(EPOLLIN | EPOLLOUT);
      return false;
    }
    if (sent < 0) {
      // Answers that came before the end still count.
      if (receive()) fail(kUnresponsiveRemote);
      return false;
    }
    outbox_.written(static_cast<size_t>(sent));
  }
  return true;
}

void Link::fail(Status status) {
  if (dead_) return;
  dead_ = true;
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  qp.forget(this);
  if (outbox_.outstanding() == 0) return;
  if (status == kUnresponsiveRemote) qp.context.counters.add(kUnresponsiveRemotes, 1);
  outbox_.each_outstanding([&](Message& message) { qp.complete(message.work, status); });
}

void Link::finish() {
  if (dead_ || fd_ < 0 || connecting_) return;
  receive();
  for (int tries = 0; tries < kFinishTries && !dead_ && !outbox_.is_empty(); tries++) {
    if (flush() || outbox_.is_empty()) continue;
    pollfd writable{fd_, POLLOUT, 0};
    poll(&writable, 1, 20);
  }
}

void Link::forgive() { progress_at_ = checked_at_ = now_ns(); }

uint64_t Link::bytes_acknowledged() const {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (fd_ < 0 || getsockopt(fd_, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return 0;
  return info.tcpi_bytes_acked;
}

/// A peer answers when its kernel takes bytes: a large message on a slow link gets its answer only at the end.
void Link::check_progress() {
  const uint64_t timeout = qp.context.attributes.timeout_ms * kMillisecond;
  const uint64_t now = qp.context.engine.now;
  if (now < checked_at_ + timeout / 4) return;
  checked_at_ = now;
  const uint64_t acknowledged = bytes_acknowledged();
  if (acknowledged != acknowledged_) progress_at_ = now;
  acknowledged_ = acknowledged;
  if (now > progress_at_ && now - progress_at_ >= timeout) fail(kUnresponsiveRemote);
}

uint64_t Link::next_due() const {
  if (dead_) return kNever;
  uint64_t due = std::min({outbox_.next_due(), inbox_.next_due(), connect_at_});
  if (outbox_.outstanding() > 0) {
    due = std::min(due, checked_at_ + qp.context.attributes.timeout_ms * kMillisecond / 4);
  }
  return due;
}

}  // namespace efa
