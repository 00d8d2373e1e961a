// Memory that endpoints may use: this rank's registered buffers, and what it knows of its peers'.
#include <algorithm>

#include "fault.h"
#include "port.h"

namespace weft {

namespace {

constexpr uint64_t kAccess = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

}  // namespace

uint32_t Port::addRegion(std::shared_ptr<Mapping> mapping, const std::vector<uint64_t>& keys,
                         const fi_mr_attr& extra) {
  auto region = std::make_unique<Region>();
  region->mapping = mapping;
  for (size_t i = 0; i < endpoints_.size(); i++) {
    Endpoint& endpoint = *endpoints_[i];
    // Providers refuse empty registrations: an empty buffer registers the byte its page holds anyway.
    iovec range{mapping->data(), std::max<size_t>(mapping->bytes(), 1)};
    fi_mr_attr attr = extra;
    attr.mr_iov = &range;
    attr.iov_count = 1;
    attr.access = kAccess;
    attr.requested_key = keys.at(i);
    fid_mr* mr = nullptr;
    check(fi_mr_regattr(endpoint.domain, &attr, 0, &mr), "fi_mr_regattr");
    region->mr.push_back(mr);
    if (endpoint.info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
      check(fi_mr_bind(mr, &endpoint.ep->fid, 0), "fi_mr_bind");
      check(fi_mr_enable(mr), "fi_mr_enable");
    }
    region->descriptor.push_back(fi_mr_desc(mr));
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
