#include "proxy-producers.h"

#include <algorithm>
#include <cmath>

#include "../fault.h"
#include "../sizes.h"

namespace weft {

ProxyProducers::ProxyProducers(const ProxyJob& job, std::vector<ProxyTransfer> transfers, const ProxySource& source,
                               uint64_t iterations, uint64_t batch)
    : context_(job.context), block_(job.block), board_(job.producers, job.shift, job.context) {
  host_.board = board_.host();
  host_.source = source.data;
  host_.transferCount = transfers.size();
  host_.iterations = iterations;
  host_.batch = batch;
  host_.blocking = job.blocking;
  host_.fill = job.fill;
  host_.seed = job.seed;
  if (source.onGpu && !context_) throw Fault("proxy", EINVAL, "CPU threads cannot fill GPU memory");
  layOut(transfers, job.trace);
  if (context_) mapForGpu(source);
}

void ProxyProducers::layOut(const std::vector<ProxyTransfer>& transfers, bool trace) {
  size_t list = transfers.size() * sizeof(ProxyTransfer);
  size_t times = host_.board.producers * (host_.iterations / host_.batch);
  checkSamples("proxy", times);
  size_t samples = times * sizeof(uint64_t);
  size_t seen = trace ? host_.iterations * transfers.size() * sizeof(uint64_t) : 0;
  results_ = std::make_unique<Mapping>(list + samples + seen, false);
  uint8_t* at = results_->data();
  host_.transfers = reinterpret_cast<ProxyTransfer*>(at);
  std::copy(transfers.begin(), transfers.end(), reinterpret_cast<ProxyTransfer*>(at));
  host_.samples = reinterpret_cast<uint64_t*>(at + list);
  host_.seen = trace ? reinterpret_cast<uint64_t*>(at + list + samples) : nullptr;
}

void ProxyProducers::mapForGpu(const ProxySource& source) {
  resultsRegistration_ = std::make_unique<HostRegistration>(context_, results_->data(), results_->bytes());
  CuPointer base = resultsRegistration_->devicePointer();
  auto moved = [&](auto* host) {
    return host ? reinterpret_cast<decltype(host)>(base + (reinterpret_cast<const uint8_t*>(host) - results_->data())) : nullptr;
  };
  device_ = host_;
  device_.board = board_.producers();
  device_.transfers = moved(host_.transfers);
  device_.samples = moved(host_.samples);
  device_.seen = moved(host_.seen);
  if (source.onGpu) return;
  CudaCurrent current(*context_);
  CuPointer mapped = 0;
  // The buffer may have been page-locked for CUDA when it was made.
  if (Cuda::get().cuMemHostGetDevicePointer(&mapped, source.data, 0) != cu::kSuccess) {
    sourceRegistration_ = std::make_unique<HostRegistration>(context_, source.data, source.bytes);
    mapped = sourceRegistration_->devicePointer();
  }
  device_.source = reinterpret_cast<uint8_t*>(mapped);
}

ProxyProducers::~ProxyProducers() {
  for (auto& thread : threads_) thread.join();
  if (!stream_) return;
  try {
    stream_->synchronize();
  } catch (const Fault&) {
    // The kernel has ended badly, which `check` or `join` told.
  }
}

void ProxyProducers::start(unsigned spins) {
  if (context_) {
    if (host_.seen) before_ = relateClocks(context_);
    stream_ = std::make_unique<Stream>(context_);
    launch(kernel(*context_, "proxy", "weftProxy"), static_cast<unsigned>(host_.board.producers), block_, *stream_, device_);
    return;
  }
  for (uint32_t producer = 0; producer < host_.board.producers; producer++) {
    threads_.emplace_back([this, producer, spins] { runProxyProgram(host_, producer, spins); });
  }
}

void ProxyProducers::check() const {
  if (stream_) (void)stream_->done();
}

void ProxyProducers::join() {
  for (auto& thread : threads_) thread.join();
  threads_.clear();
  if (stream_) stream_->synchronize();
}

std::vector<double> ProxyProducers::samples() const {
  size_t count = host_.iterations / host_.batch;
  std::vector<double> slowest(count);
  for (size_t i = 0; i < host_.board.producers * count; i++) {
    slowest[i % count] = std::max(slowest[i % count], static_cast<double>(host_.samples[i]));
  }
  return slowest;
}

ClockRelation ProxyProducers::clock() const {
  if (!context_ || !host_.seen) return {};
  ClockRelation after = relateClocks(context_);
  double drift = std::abs(after.offset - before_.offset);
  return {(after.offset + before_.offset) / 2, std::max(after.uncertainty, before_.uncertainty) + drift / 2};
}

}  // namespace weft
