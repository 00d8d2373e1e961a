#include "attributes.h"

#include <arpa/inet.h>
#include <endian.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "newer-abi.h"

namespace efa {
namespace {

template <typename T>
void take(const KeyValues& values, std::string_view key, T& into) {
  if (auto at = values.find(key); at != values.end())
    into = static_cast<T>(std::strtoull(at->second.c_str(), nullptr, 0));
}

uint32_t parse_caps(const std::string& list) {
  static const std::map<std::string, uint32_t, std::less<>> known = {{"read", kCapRead},
                                                                     {"rnr", kCapRnrRetry},
                                                                     {"source", kCapSourceGid},
                                                                     {"write", kCapWrite},
                                                                     {"unsolicited", kCapUnsolicited}};
  uint32_t caps = 0;
  for (size_t at = 0; at < list.size();) {
    size_t end = std::min(list.find(',', at), list.size());
    auto cap = known.find(list.substr(at, end - at));
    if (cap != known.end()) caps |= cap->second;
    at = end + 1;
  }
  return caps;
}

/// "0011:2233:4455:6677" as the eight bytes it names.
uint64_t parse_guid(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ':'), text.end());
  return htobe64(std::strtoull(text.c_str(), nullptr, 16));
}

void apply_values(const KeyValues& values, Attributes& a) {
  take(values, "vendor_id", a.vendor_id);
  take(values, "part_id", a.part_id);
  take(values, "mtu", a.mtu);
  take(values, "speed", a.speed);
  take(values, "width", a.width);
  take(values, "sq_depth", a.sq_depth);
  take(values, "rq_depth", a.rq_depth);
  take(values, "inline", a.inline_bytes);
  take(values, "sq_sge", a.sq_sge);
  take(values, "rq_sge", a.rq_sge);
  take(values, "max_rdma", a.max_rdma);
  take(values, "shuffle", a.shuffle);
  take(values, "seed", a.seed);
  take(values, "lifespan_ms", a.lifespan_ms);
  take(values, "timeout_ms", a.timeout_ms);
  if (auto caps = values.find("caps"); caps != values.end()) a.caps = parse_caps(caps->second);
}

}  // namespace

std::optional<KeyValues> read_key_values(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  KeyValues values;
  for (std::string line; std::getline(file, line);) {
    size_t equals = line.find('=');
    if (line.empty() || line[0] == '#' || equals == std::string::npos) continue;
    size_t end = line.find_last_not_of(" \t\r");
    values[line.substr(0, equals)] = line.substr(equals + 1, end - equals);
  }
  return values;
}

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<Attributes> read_attributes(const std::string& ibdev) {
  Attributes a;
  a.ibdev = ibdev;
  a.folder = ibdev + "/device/emulation";
  auto values = read_key_values(a.folder + "/attributes");
  if (!values) return std::nullopt;
  auto address = values->find("address");
  if (address == values->end() || inet_pton(AF_INET, address->second.c_str(), &a.address) != 1)
    return std::nullopt;
  apply_values(*values, a);
  a.mtu = std::clamp(a.mtu, 256u, 65535u);
  a.sq_sge = std::clamp<uint16_t>(a.sq_sge, 1, 2);
  a.rq_sge = std::clamp<uint16_t>(a.rq_sge, 1, 2);
  a.inline_bytes = std::min<uint16_t>(a.inline_bytes, 64);
  a.firmware = read_line(ibdev + "/fw_ver");
  a.guid = parse_guid(read_line(ibdev + "/node_guid"));
  return a;
}

std::string sysfs_root() {
  const char* set = std::getenv("SYSFS_PATH");
  std::string root = set != nullptr && *set != '\0' ? set : "/sys";
  while (root.size() > 1 && root.back() == '/') root.pop_back();
  return root;
}

}  // namespace efa
