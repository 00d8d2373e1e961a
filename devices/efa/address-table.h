// Address handles of one open device. The hardware numbers them by GID, and so do we.
#pragma once
#include <infiniband/verbs.h>
#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

namespace efa {

constexpr uint16_t kUnknownAh = 0xffff;
using Gid = std::array<uint8_t, 16>;

inline Gid gid_of(in_addr address) {
  Gid gid{};
  gid[10] = gid[11] = 0xff;
  std::memcpy(&gid[12], &address, sizeof address);
  return gid;
}
inline in_addr address_of(const Gid& gid) {
  in_addr address;
  std::memcpy(&address, &gid[12], sizeof address);
  return address;
}

struct AddressHandle {
  ibv_ah ah;  // first: callers hold a pointer to it
  uint16_t number;
  Gid gid;
};

class AddressTable {
 public:
  AddressHandle* add(ibv_pd* pd, const Gid& gid) {
    std::lock_guard lock(lock_);
    auto [at, fresh] = entries_.try_emplace(gid, Entry{next_, 0});
    if (fresh) next_ = next_ + 1 == kUnknownAh ? 0 : next_ + 1;
    at->second.uses++;
    return new AddressHandle{{pd->context, pd, at->second.number}, at->second.number, gid};
  }
  void remove(AddressHandle* handle) {
    std::lock_guard lock(lock_);
    auto at = entries_.find(handle->gid);
    if (at != entries_.end() && --at->second.uses == 0) entries_.erase(at);
    delete handle;
  }
  /// kUnknownAh when there is no handle for that peer.
  uint16_t number_of(const Gid& gid) {
    std::lock_guard lock(lock_);
    auto at = entries_.find(gid);
    return at == entries_.end() ? kUnknownAh : at->second.number;
  }

 private:
  struct Entry {
    uint16_t number;
    uint32_t uses;
  };
  std::mutex lock_;
  std::map<Gid, Entry> entries_;
  uint16_t next_ = 0;
};

}  // namespace efa
