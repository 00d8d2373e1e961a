#include "engine.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "context.h"
#include "link.h"
#include "queue-pair.h"

namespace efa {
namespace {

constexpr size_t kStagingBytes = 256 * 1024;
constexpr int kSilentNapMs = 5;
// Nobody polled for so long: the thread takes over.
constexpr uint64_t kStandby = 2 * kMillisecond;

void drain(int fd) {
  uint64_t count;
  while (read(fd, &count, sizeof count) > 0) {
  }
}

}  // namespace

Engine::Engine(Context& context) : context(context), random(context.attributes.seed) {}

Engine::~Engine() {
  stopping_ = true;
  if (thread_.joinable()) {
    rouse();
    thread_.join();
  }
  links_.clear();
  for (int fd : {epoll_, wake_, timer_}) {
    if (fd >= 0) close(fd);
  }
}

Engine::Held::Held(Engine& engine) {
  engine.waiting_++;
  lock_ = std::unique_lock(engine.mutex_);
  engine.waiting_--;
}

int Engine::start() {
  if (thread_.joinable()) return 0;
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (epoll_ < 0 || wake_ < 0 || timer_ < 0) return errno;
  static_cast<void>(watch(wake_, EPOLLIN, nullptr));
  static_cast<void>(watch(timer_, EPOLLIN, nullptr));
  staging.resize(kStagingBytes);
  // The application's signals are the application's.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = 0;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& caught) {
    error = caught.code().value();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return error;
  pthread_setname_np(thread_.native_handle(), "emulated-efa");
  return 0;
}

int Engine::add(QueuePair* qp) {
  if (const int error = start(); error != 0) return error;
  queue_pairs_.push_back(qp);
  return 0;
}

void Engine::remove(QueuePair* qp) {
  removals_++;
  std::erase(queue_pairs_, qp);
  for (auto& link : links_) {
    if (&link->qp == qp) link->finish();
  }
  std::erase_if(links_, [qp](const auto& link) { return &link->qp == qp; });
}

void Engine::adopt(std::unique_ptr<Link> link) { links_.push_back(std::move(link)); }

bool Engine::watch(int fd, uint32_t events, Pollable* who) {
  epoll_event event{.events = events, .data = {.ptr = who}};
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

void Engine::change(int fd, uint32_t events, Pollable* who) {
  epoll_event event{.events = events, .data = {.ptr = who}};
  epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
}

void Engine::wake() {
  posted_ = true;
  if (sleeping_.exchange(false)) rouse();
}

void Engine::rouse() {
  const uint64_t one = 1;
  if (write(wake_, &one, sizeof one) < 0) { /* full: the thread is awake */
  }
}

void Engine::assist() {
  if (is_forked()) return;
  Inside inside;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || silent_ || epoll_ < 0) return;
  turn(epoll_wait(epoll_, events_.data(), events_.size(), 0));
  assisted_at_ = now;
  // What this turn left to be done later the thread does not know of: it must not sleep on what it knew.
  if (sleeping_.exchange(false)) rouse();
}

void Engine::run() {
  int timeout = 0;
  while (!stopping_) {
    if (silent_ || now_ns() - assisted_at_ < kStandby) {
      stand_by();
      timeout = 0;  // what is due now is not what was due then
      auto locked = lock();
      removals_before_ = removals_;
      continue;
    }
    sleep(timeout);
    // A caller that waits for the lock gets it.
    for (int turns = 0; waiting_ > 0 && turns < 1000; turns++) sched_yield();
    auto locked = lock();
    removals_before_ = removals_;
    assisted_before_ = assisted_at_;
    timeout = wait_time();
  }
}

/// While others move the data, or nobody may. Files are written here, not by those who poll.
void Engine::stand_by() {
  pollfd wake{wake_, POLLIN, 0};
  poll(&wake, 1, silent_ ? kSilentNapMs : static_cast<int>(kStandby / kMillisecond));
  drain(wake_);
  context.counters.publish(now_ns());
  if (!silent_) return;
  auto locked = lock();
  turn(0);
}

void Engine::sleep(int timeout_ms) {
  std::array<epoll_event, 64> events;
  sleeping_ = true;
  if (posted_.exchange(false) || assisted_at_ != assisted_before_) timeout_ms = 0;
  const int ready = epoll_wait(epoll_, events.data(), events.size(), timeout_ms);
  sleeping_ = false;
  auto locked = lock();
  drain(wake_);
  drain(timer_);
  events_ = events;
  // Whoever an event names may be gone since; what is still ready will be told again.
  turn(removals_before_ == removals_ ? ready : 0);
}

/// With the lock held. A silent device neither reads nor writes; its peers find out by themselves.
void Engine::turn(int ready) {
  posted_ = false;
  now = now_ns();
  context.faults.refresh(now);
  const bool was_silent = silent_;
  silent_ = context.faults.silent.load();
  if (silent_) return;
  if (was_silent) {
    for (auto& link : links_) link->forgive();
  }
  for (int i = 0; i < ready; i++) {
    auto* who = static_cast<Pollable*>(events_[i].data.ptr);
    if (who != nullptr) who->on_ready(events_[i].events);
  }
  serve();
}

void Engine::serve() {
  for (QueuePair* qp : queue_pairs_) qp->route_submissions();
  more_ = false;
  // Links take turns in any order; those that come into being meanwhile wait for the next turn.
  const size_t count = links_.size();
  const size_t first = count > 1 && context.attributes.shuffle ? random.below(static_cast<uint32_t>(count)) : 0;
  for (size_t i = 0; i < count; i++) more_ |= links_[(first + i) % count]->step();
  removals_ += static_cast<uint32_t>(std::erase_if(links_, [](const auto& link) { return link->is_dead(); }));
}

/// Milliseconds until something is due, rounded up by the timer descriptor for what cannot wait a millisecond.
int Engine::wait_time() {
  now = now_ns();
  context.counters.publish(now);
  if (more_) return 0;
  uint64_t due = context.counters.due(now);
  if (!silent_) {
    for (auto& link : links_) due = std::min(due, link->next_due());
  }
  if (due == kNever) return -1;
  if (due <= now) return 0;
  if (due - now < 3 * kMillisecond) {
    arm(due);
    return -1;
  }
  return static_cast<int>((due - now) / kMillisecond);
}

void Engine::arm(uint64_t due) {
  itimerspec at{};
  at.it_value.tv_sec = static_cast<time_t>(due / 1000000000u);
  at.it_value.tv_nsec = static_cast<long>(due % 1000000000u);
  timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr);
}

}  // namespace efa
