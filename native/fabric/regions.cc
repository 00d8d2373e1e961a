// Memory that endpoints may use: this rank's registered buffers, and what it knows of its peers'.
#include <algorithm>
#include <optional>

#include "../fault.h"
#include "port.h"

namespace weft {

namespace {

constexpr uint64_t kAccess = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

// Newer than the headers we build with. The library reads the fields that its caller's interface version has.
constexpr uint64_t kMrDmabuf = 1ull << 40;  // FI_MR_DMABUF, since 1.20
struct MrDmabuf {                           // fi_mr_dmabuf
  int fd;
  uint64_t offset;
  size_t bytes;
  void* base;
};
struct MrAttr {  // fi_mr_attr, with what 1.19, 1.22 and 2.0 added at its end
  fi_mr_attr known;
  void* hmemData;
  size_t pageBytes;
  const fid_mr* baseRegion;
  size_t subRegions;
};

fid_mr* registerMemory(const Endpoint& endpoint, const Span& memory, uint64_t key, int dmabuf) {
  // Providers refuse empty registrations: an empty buffer registers the byte its page holds anyway.
  iovec range{memory.base, std::max<size_t>(memory.bytes, 1)};
  MrDmabuf file{dmabuf, 0, range.iov_len, range.iov_base};
  MrAttr attr{};
  attr.known.mr_iov = &range;
  attr.known.iov_count = 1;
  attr.known.access = kAccess;
  attr.known.requested_key = key;
  uint64_t flags = 0;
  if (memory.context) {
    attr.known.iface = FI_HMEM_CUDA;
    attr.known.device.cuda = memory.context->device();
    flags |= FI_HMEM_DEVICE_ONLY;  // without it shm goes through the host, piece by piece
  }
  if (dmabuf >= 0) {
    attr.known.mr_iov = reinterpret_cast<const iovec*>(&file);
    flags |= kMrDmabuf;
  }
  fid_mr* mr = nullptr;
  check(fi_mr_regattr(endpoint.domain, &attr.known, flags, &mr), "fi_mr_regattr");
  return mr;
}

// A provider's copies within a GPU would else be over for it before the bytes are in place.
void awaitCopies(const Span& memory) {
  unsigned on = 1;
  WEFT_CU(cuPointerSetAttribute, &on, cu::kSyncMemops, reinterpret_cast<CuPointer>(memory.base));
}

}  // namespace

uint32_t Port::addRegion(Span memory, const std::vector<uint64_t>& keys, int dmabuf) {
  std::optional<CudaCurrent> current;
  if (memory.context) current.emplace(*memory.context);
  auto region = std::make_unique<Region>();
  region->memory = std::move(memory);
  for (size_t i = 0; i < endpoints_.size(); i++) {
    Endpoint& endpoint = *endpoints_[i];
    fid_mr* mr = registerMemory(endpoint, region->memory, keys.at(i), dmabuf);
    region->mr.push_back(mr);
    if (endpoint.info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
      check(fi_mr_bind(mr, &endpoint.ep->fid, 0), "fi_mr_bind");
      check(fi_mr_enable(mr), "fi_mr_enable");
    }
    region->descriptor.push_back(fi_mr_desc(mr));
  }
  if (region->memory.context) {
    context_ = region->memory.context;
    awaitCopies(region->memory);
  }
  uint32_t id = nextRegion_++;
  regions_.emplace(id, std::move(region));
  return id;
}

bool Port::removeRegion(uint32_t id) {
  if (region(id).inFlight > 0) return false;
  regions_.erase(id);
  return true;
}

Region& Port::region(uint32_t id) {
  auto found = regions_.find(id);
  if (found == regions_.end()) throw Fault("region", EBADF, "the region is closed");
  return *found->second;
}

uint32_t Port::addRemote(RemoteRegion remote) {
  uint32_t id = nextRemote_++;
  remotes_.emplace(id, std::move(remote));
  return id;
}

void Port::removeRemote(uint32_t id) { remotes_.erase(id); }

const RemoteRegion& Port::remote(uint32_t id) const {
  auto found = remotes_.find(id);
  if (found == remotes_.end()) throw Fault("region", EBADF, "the remote region is closed");
  return found->second;
}

}  // namespace weft
