#include "port.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "../fault.h"
#include "../signal-guard.h"
#include "acknowledgements.h"
#include "receive-pool.h"

namespace weft {

namespace {

template <typename T>
void closeFid(T*& object) {
  if (object) fi_close(&object->fid);
  object = nullptr;
}

// Newer than the headers we are compiled with.
constexpr uint32_t kSharedMemorySince = FI_VERSION(1, 21);
constexpr int kOptSharedMemoryPermitted = 11;
constexpr uint32_t kMaxSizesSince = FI_VERSION(1, 22);
constexpr int kOptMaxMsgSize = 12, kOptMaxRmaSize = 14;
constexpr uint32_t kEmulatedWriteSince = FI_VERSION(1, 18);
constexpr int kOptEfaEmulatedWrite = -(0xefa << 16) + 2;

bool isEfa(const fi_info* info) { return std::string_view(info->fabric_attr->prov_name) == "efa"; }

}  // namespace

Endpoint::Endpoint(uint32_t index, const fi_info* wanted, const EndpointOptions& options)
    : directed(options.directed), acknowledged(options.acknowledged), index(index) {
  // With FI_RX_CQ_DATA every arrival takes a receive: none is usual.
  if (wanted->mode & FI_RX_CQ_DATA) usual = 1;
  else unusualBits = kUserBit | (acknowledged ? Acknowledgements::kTokenBit : 0);
  info = Library::get().dupinfo(wanted);
  if (!info) check(-FI_ENOMEM, "fi_dupinfo");
  try {
    {
      SignalGuard guard;
      open(options);
    }
    // Not under the same guard: by now shm's handlers are in place, and enabling makes the segment that they would
    // remove. A signal in that moment would leave an endpoint that no peer can map.
    SignalGuard guard;
    enable();
  } catch (...) {
    close();
    throw;
  }
}

Endpoint::~Endpoint() { close(); }

void Endpoint::open(const EndpointOptions& options) {
  // Delivery is asked for operation by operation, so that a send whose answer is its acknowledgement need not wait.
  info->tx_attr->op_flags = 0;
  info->rx_attr->op_flags = 0;
  check(Library::get().fabric(info->fabric_attr, &fabric, nullptr), "fi_fabric");
  check(fi_domain(fabric, info, &domain, nullptr), "fi_domain");

  fi_cq_attr cqAttr{};
  cqAttr.format = FI_CQ_FORMAT_DATA;
  cqAttr.wait_obj = FI_WAIT_NONE;
  cqAttr.size = std::max<size_t>(info->tx_attr->size + info->rx_attr->size, 1024);
  check(fi_cq_open(domain, &cqAttr, &cq, nullptr), "fi_cq_open");

  fi_av_attr avAttr{};
  avAttr.type = FI_AV_TABLE;
  avAttr.count = options.peersExpected;
  check(fi_av_open(domain, &avAttr, &av, nullptr), "fi_av_open");

  check(fi_endpoint(domain, info, &ep, nullptr), "fi_endpoint");
  check(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  check(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind");
  if (isEfa(info)) openEvents();
  if (isEfa(info) && FI_VERSION_GE(Library::get().version, kSharedMemorySince)) {
    bool permitted = options.localShm;
    check(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, kOptSharedMemoryPermitted, &permitted, sizeof(permitted)), "fi_setopt");
  }
}

void Endpoint::enable() {
  check(fi_enable(ep), "fi_enable");
  // An injected buffer has no descriptor, and without one a GPU's memory would be taken for the host's.
  injectBytes = info->caps & FI_HMEM ? 0 : info->tx_attr->inject_size;
  sends.limit = info->tx_attr->size;
  receives.limit = info->rx_attr->size;
  readLimits();
}

void Endpoint::openEvents() {
  fi_eq_attr attr{};
  attr.size = 64;
  attr.wait_obj = FI_WAIT_NONE;
  check(fi_eq_open(fabric, &attr, &eq, nullptr), "fi_eq_open");
  check(fi_ep_bind(ep, &eq->fid, 0), "fi_ep_bind");
}

void Endpoint::readLimits() {
  maxMessageBytes = maxWriteBytes = info->ep_attr->max_msg_size;
  uint32_t version = Library::get().version;
  auto read = [this](int name, auto& value) {
    auto found = value;
    size_t bytes = sizeof(found);
    if (fi_getopt(&ep->fid, FI_OPT_ENDPOINT, name, &found, &bytes) == 0) value = found;
  };
  if (FI_VERSION_GE(version, kMaxSizesSince)) {
    read(kOptMaxMsgSize, maxMessageBytes);
    read(kOptMaxRmaSize, maxWriteBytes);
  }
  if (!isEfa(info)) return;
  bool emulated = true;  // before, the provider has no other writes
  if (FI_VERSION_GE(version, kEmulatedWriteSince)) read(kOptEfaEmulatedWrite, emulated);
  emulatedWrites = emulated;
}

// From 1.19 on, libfabric's code for receives of efa and shm reads wild memory when a directed one is cancelled.
bool Endpoint::recalls() const {
  std::string_view provider(info->fabric_attr->prov_name);
  bool shared = provider == "efa" || provider == "shm";
  return !(directed && shared && FI_VERSION_GE(Library::get().version, FI_VERSION(1, 19)));
}

bool Endpoint::reads() const { return offersReads(*info); }

// Without any of these, FI_RMA stands for all of them.
bool offersReads(const fi_info& info) {
  constexpr uint64_t kReads = FI_READ | FI_REMOTE_READ;
  bool named = info.caps & (kReads | FI_WRITE | FI_REMOTE_WRITE);
  return (info.caps & FI_RMA) && (!named || (info.caps & kReads) == kReads);
}

std::string Endpoint::label() const {
  bool named = info && info->nic && info->nic->device_attr && info->nic->device_attr->name;
  return "channel " + std::to_string(index) + (named ? " (" + std::string(info->nic->device_attr->name) + ")" : "");
}

void Endpoint::close() {
  closeFid(ep);
  pool.reset();
  closeFid(eq);
  closeFid(av);
  closeFid(cq);
  closeFid(domain);
  closeFid(fabric);
  if (info) Library::get().freeinfo(info);
  info = nullptr;
}

Region::~Region() {
  std::optional<CudaCurrent> current;  // the provider may have mapped GPU memory by CUDA's means
  try {
    if (memory.context) current.emplace(*memory.context);
  } catch (const Fault&) {
    // The GPU was lost: what the provider holds of it went with it.
  }
  for (auto*& registration : mr) closeFid(registration);
}

}  // namespace weft
