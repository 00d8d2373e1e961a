#include "ipc.h"

#include <algorithm>
#include <barrier>
#include <cstring>
#include <functional>
#include <thread>

#include "../clock.h"
#include "../fault.h"
#include "../memory/pattern-word.h"
#include "../memory/pattern.h"
#include "../sizes.h"

namespace weft {

namespace {

constexpr size_t kVectorBytes = 16;
constexpr uint32_t kMostThreads = 512;

void checkJob(const IpcJob& job, size_t limit) {
  bool whole = job.bytes > 0 && job.bytes % kVectorBytes == 0 && job.bytes <= limit;
  if (!whole || job.grid == 0 || job.block == 0 || job.block > 1024 || job.batch == 0) {
    throw Fault("ipc", EINVAL, "sizes must be multiples of 16 bytes, and blocks need 1 to 1024 threads");
  }
  checkSamples("ipc", job.samples);
}

void checkAborted(const std::atomic<bool>& aborted) {
  if (aborted.load(std::memory_order_relaxed)) throw Fault("ipc", ECANCELED, "the run was aborted");
}

class GpuTarget final : public IpcTarget {
 public:
  GpuTarget(GpuContextPtr context, const CuIpcHandle& handle, size_t bytes)
      : memory_(context, handle), stream_(context), context_(std::move(context)), bytes_(bytes) {}

  std::vector<double> write(const IpcJob& job, const std::atomic<bool>& aborted) override {
    checkJob(job, bytes_);
    CuFunction function = kernel(*context_, "ipc", "weftIpcWrite");
    auto vectors = static_cast<uint64_t>(job.bytes / kVectorBytes);
    return timed(job, aborted, [&](uint64_t pass) {
      launch(function, job.grid, job.block, stream_, memory_.pointer(), vectors, spreadSeed(job.seed + pass));
    });
  }

  std::vector<double> copy(const IpcJob& job, const std::atomic<bool>& aborted) override {
    checkJob(job, bytes_);
    if (!source_ || source_->bytes() < job.bytes) source_ = std::make_unique<DeviceMemory>(context_, bytes_);
    auto vectors = static_cast<uint64_t>(job.bytes / kVectorBytes);
    launch(kernel(*context_, "ipc", "weftIpcWrite"), kFillGrid, kFillBlock, stream_, source_->pointer(), vectors,
           spreadSeed(job.seed));
    return timed(job, aborted, [&](uint64_t) {
      CudaCurrent current(*context_);
      WEFT_CU(cuMemcpyDtoDAsync, memory_.pointer(), source_->pointer(), job.bytes, stream_.handle());
    });
  }

 private:
  static constexpr unsigned kFillGrid = 128, kFillBlock = 256;

  std::vector<double> timed(const IpcJob& job, const std::atomic<bool>& aborted, const std::function<void(uint64_t)>& pass) {
    Event start(context_, true), end(context_, true);
    std::vector<double> samples;
    uint64_t passes = 0;
    stream_.synchronize();
    for (uint64_t i = 0; i < job.samples; i++) {
      start.record(stream_);
      for (uint64_t k = 0; k < job.batch; k++) {
        checkAborted(aborted);
        pass(passes++);
      }
      end.record(stream_);
      end.synchronize();
      samples.push_back(Event::milliseconds(start, end) * 1e6);
    }
    return samples;
  }

  IpcMemory memory_;
  Stream stream_;
  GpuContextPtr context_;
  size_t bytes_;
  std::unique_ptr<DeviceMemory> source_;
};

/// Runs `part(thread, pass)` on `threads` threads, `batch` passes per sample; the calling thread is the first. A sample
/// runs from when the last thread has come to the start to when the last has come to the end: the barrier's completion
/// reads the clock, because with more threads than cores any one thread may wake long after others went to work.
std::vector<double> timedThreads(uint32_t threads, const IpcJob& job, const std::atomic<bool>& aborted,
                                 const std::function<void(uint32_t, uint64_t)>& part) {
  std::vector<double> samples;
  samples.reserve(job.samples);
  bool unmade = false, ended = false, running = false;
  uint64_t start = 0;
  std::barrier meet(static_cast<std::ptrdiff_t>(threads), [&]() noexcept {
    uint64_t now = monotonicNanoseconds();
    if (running) samples.push_back(static_cast<double>(now - start));
    else ended = unmade || aborted.load(std::memory_order_relaxed);
    running = !running;
    start = now;
  });
  auto work = [&](uint32_t thread) {
    for (uint64_t i = 0; i < job.samples; i++) {
      meet.arrive_and_wait();
      if (ended) return;
      for (uint64_t k = 0; k < job.batch && !aborted.load(std::memory_order_relaxed); k++) part(thread, i * job.batch + k);
      meet.arrive_and_wait();
    }
  };
  std::vector<std::jthread> others;
  try {
    for (uint32_t thread = 1; thread < threads; thread++) others.emplace_back(work, thread);
  } catch (...) {
    unmade = true;
    // For this thread and those that could not be made: the others wait for them.
    for (size_t missing = threads - others.size(); missing > 0; missing--) meet.arrive_and_drop();
    throw;
  }
  work(0);
  others.clear();  // joins
  checkAborted(aborted);
  return samples;
}

class HostTarget final : public IpcTarget {
 public:
  HostTarget(const std::string& path, size_t bytes) : memory_(path, bytes) {}

  std::vector<double> write(const IpcJob& job, const std::atomic<bool>& aborted) override {
    checkJob(job, memory_.bytes());
    if (job.grid > kMostThreads) throw Fault("ipc", EINVAL, "at most 512 CPU threads can replace blocks");
    // A thread writes what a block would: runs of `block` vectors, a grid's width apart.
    size_t run = job.block * kVectorBytes;
    return timedThreads(job.grid, job, aborted, [&](uint32_t thread, uint64_t pass) {
      for (size_t at = thread * run; at < job.bytes; at += job.grid * run) {
        fillPattern(memory_.data() + at, std::min(run, job.bytes - at), job.seed + pass, at);
      }
    });
  }

  std::vector<double> copy(const IpcJob& job, const std::atomic<bool>& aborted) override {
    checkJob(job, memory_.bytes());
    std::vector<uint8_t> source(job.bytes);
    fillPattern(source.data(), job.bytes, job.seed, 0);
    return timedThreads(1, job, aborted, [&](uint32_t, uint64_t) { std::memcpy(memory_.data(), source.data(), job.bytes); });
  }

 private:
  SharedMemory memory_;
};

}  // namespace

std::unique_ptr<IpcTarget> openGpuTarget(GpuContextPtr context, const CuIpcHandle& handle, size_t bytes) {
  return std::make_unique<GpuTarget>(std::move(context), handle, bytes);
}

std::unique_ptr<IpcTarget> openHostTarget(const std::string& path, size_t bytes) {
  return std::make_unique<HostTarget>(path, bytes);
}

double hostMemsetNanoseconds(SharedMemory& memory, size_t bytes, unsigned threads, const std::atomic<bool>& aborted) {
  constexpr uint64_t kTries = 5;
  IpcJob job{threads, 1, bytes, 0, 1, kTries};
  size_t part = bytes / threads;
  auto samples = timedThreads(threads, job, aborted, [&](uint32_t thread, uint64_t pass) {
    size_t start = thread * part, end = thread + 1 == threads ? bytes : start + part;
    std::memset(memory.data() + start, static_cast<int>(pass), end - start);
  });
  return *std::min_element(samples.begin(), samples.end());
}

}  // namespace weft
