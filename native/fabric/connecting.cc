// How a port and its peers come to know each other.
#include <algorithm>
#include <cstring>

#include "../fault.h"
#include "acknowledgements.h"
#include "receive-pool.h"

namespace weft {

uint32_t Port::open(const fi_info* info, const EndpointOptions& options) {
  // Regions, peers' regions and addresses count the endpoints that were open when they were made.
  if (prepared_ || !regions_.empty() || !remotes_.empty()) {
    throw Fault("fi_endpoint", EBUSY, "open every NIC before registering memory and exchanging addresses");
  }
  auto index = static_cast<uint32_t>(endpoints_.size());
  Endpoint& endpoint = *endpoints_.emplace_back(std::make_unique<Endpoint>(index, info, options));
  if (info->mode & FI_RX_CQ_DATA) {
    endpoint.pool = std::make_unique<ReceivePool>(*this, endpoint, ReceivePool::sizeFor(*info, options.peersExpected));
    endpoint.receives.limit = SIZE_MAX;
  }
  return index;
}

void Port::prepare() {
  if (prepared_) return;
  prepared_ = true;
  size_t bytes = 0;
  for (auto& owned : endpoints_) {
    Endpoint& endpoint = *owned;
    if (endpoint.acknowledged && !acknowledgements_) acknowledgements_ = std::make_unique<Acknowledgements>(*this);
    if (endpoint.pool) bytes += endpoint.pool->bytesNeeded();
  }
  if (acknowledgements_) acknowledgements_->prepare();
  if (bytes == 0) return;
  auto memory = std::make_shared<std::vector<uint8_t>>(bytes);
  Span span;
  span.base = memory->data();
  span.bytes = bytes;
  span.owner = memory;
  Region& all = region(addRegion(span, std::vector<uint64_t>(endpoints_.size(), 0)));
  size_t offset = 0;
  for (auto& endpoint : endpoints_) {
    if (!endpoint->pool) continue;
    endpoint->pool->start(all, offset);
    offset += endpoint->pool->bytesNeeded();
  }
}

std::vector<uint8_t> Port::name(uint32_t index) {
  prepare();
  Endpoint& endpoint = *endpoints_.at(index);
  std::vector<uint8_t> name(512);
  size_t bytes = name.size();
  check(fi_getname(&endpoint.ep->fid, name.data(), &bytes), "fi_getname");
  name.resize(bytes);
  if (!endpoint.acknowledged) return name;
  Mailbox mailbox = acknowledgements_->mailbox(index);
  name.resize(bytes + sizeof(mailbox));
  std::memcpy(name.data() + bytes, &mailbox, sizeof(mailbox));
  return name;
}

void Port::connect(uint32_t index, uint32_t rank, const std::vector<std::vector<uint8_t>>& everyone) {
  Endpoint& endpoint = *endpoints_.at(index);
  if (rank >= everyone.size()) throw Fault("fi_av_insert", FI_EINVAL, "this rank is not among those to connect");
  // Posts that wait name their peer by its rank.
  if (everyone.size() < endpoint.peers.size()) throw Fault("fi_av_insert", FI_EINVAL, "more ranks are connected already");
  prepare();
  std::vector<fi_addr_t> peers(everyone.size());
  std::vector<Mailbox> mailboxes(everyone.size());
  for (size_t i = 0; i < everyone.size(); i++) {
    const std::vector<uint8_t>& address = everyone[i];
    int inserted = fi_av_insert(endpoint.av, address.data(), 1, &peers[i], 0, nullptr);
    if (inserted != 1) {
      throw Fault("fi_av_insert", inserted < 0 ? -inserted : FI_EINVAL, "the address of rank " + std::to_string(i) + " was refused");
    }
    if (!endpoint.acknowledged) continue;
    if (address.size() < sizeof(Mailbox)) throw Fault("fi_av_insert", FI_EINVAL, "rank " + std::to_string(i) + " does not acknowledge writes");
    std::memcpy(&mailboxes[i], address.data() + address.size() - sizeof(Mailbox), sizeof(Mailbox));
  }
  endpoint.peers = std::move(peers);
  endpoint.mailboxes = std::move(mailboxes);
  if (acknowledgements_) acknowledgements_->connect(rank);
}

}  // namespace weft
