#include "counters.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include "clock.h"

namespace efa {
namespace {

constexpr std::array<const char*, kCounterCount> kNames = {
    "tx_bytes",           "tx_pkts",         "rx_bytes",          "rx_pkts",
    "rx_drops",           "send_bytes",      "send_wrs",          "recv_bytes",
    "recv_wrs",           "rdma_write_wrs",  "rdma_write_bytes",  "rdma_write_wr_err",
    "rdma_write_recv_bytes", "rdma_read_wrs", "rdma_read_bytes",  "rdma_read_wr_err",
    "rdma_read_resp_bytes", "retrans_bytes", "retrans_pkts",      "retrans_timeout_events",
    "unresponsive_remote_events", "impaired_remote_conn_events"};

/// In place: numbers only grow, so a reader never meets digits of two numbers of different length.
void write_number(const std::string& path, uint64_t value) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return;
  char text[32];
  const int length = snprintf(text, sizeof text, "%llu\n", static_cast<unsigned long long>(value));
  if (pwrite(file, text, static_cast<size_t>(length), 0) < 0) { /* the next publication tries again */
  }
  close(file);
}

}  // namespace

Counters::Counters(const std::string& emulation_folder, const std::string& ibdev, uint32_t lifespan_ms)
    : folder_(ibdev + "/ports/1/hw_counters/"), lifespan_(lifespan_ms * kMillisecond) {
  const std::string path = emulation_folder + "/counters";
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  const bool sized = file_ >= 0 && ftruncate(file_, sizeof(Shared)) == 0;
  // A tree that cannot be written still gives a device; its counters then stay in this process.
  const int flags = sized ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, flags, sized ? file_ : -1, 0);
  static Shared nowhere;
  shared_ = at == MAP_FAILED ? &nowhere : static_cast<Shared*>(at);
  changed_ = true;
}

Counters::~Counters() {
  publish(kNever);
  munmap(shared_, sizeof(Shared));
  if (file_ >= 0) close(file_);
}

uint64_t Counters::due(uint64_t now) {
  if (!changed_.load(std::memory_order_acquire)) return kNever;
  if (changed_at_ == 0) changed_at_ = now;
  return changed_at_ + lifespan_ / 2;
}

void Counters::publish(uint64_t now) {
  std::lock_guard lock(publishing_);
  if (now != kNever && due(now) > now) return;
  changed_at_ = 0;
  if (!changed_.exchange(false, std::memory_order_acq_rel)) return;
  if (file_ < 0 || flock(file_, LOCK_EX) != 0) return;
  write_files();
  flock(file_, LOCK_UN);
}

void Counters::write_files() {
  for (unsigned i = 0; i < kCounterCount; i++) {
    const uint64_t value = shared_->values[i].load(std::memory_order_relaxed);
    if (value == shared_->published[i].load(std::memory_order_relaxed)) continue;
    write_number(folder_ + kNames[i], value);
    shared_->published[i].store(value, std::memory_order_relaxed);
  }
}

}  // namespace efa
