// Finds the emulated devices of the tree, in the order in which the kernel numbers them.
#include "device-list.h"

#include <dirent.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

namespace efa {
namespace {

/// Devices are never freed: an open one outlives the list it came from.
std::map<std::string, std::unique_ptr<Device>>& known_devices() {
  static auto* known = new std::map<std::string, std::unique_ptr<Device>>;
  return *known;
}

std::vector<std::pair<long, std::string>> uverbs_entries(const std::string& folder) {
  std::vector<std::pair<long, std::string>> entries;
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) return entries;
  while (const dirent* entry = readdir(directory)) {
    if (std::strncmp(entry->d_name, "uverbs", 6) == 0) {
      entries.emplace_back(std::strtol(entry->d_name + 6, nullptr, 10), entry->d_name);
    }
  }
  closedir(directory);
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::unique_ptr<Device> read_device(const std::string& root, const std::string& uverbs) {
  const std::string path = root + "/class/infiniband_verbs/" + uverbs;
  const std::string name = read_line(path + "/ibdev");
  const std::string ibdev = root + "/class/infiniband/" + name;
  if (name.empty() || name.size() >= IBV_SYSFS_NAME_MAX || ibdev.size() >= IBV_SYSFS_PATH_MAX) return nullptr;
  auto attributes = read_attributes(ibdev);
  if (!attributes) return nullptr;
  auto device = std::make_unique<Device>();
  device->attributes = std::move(*attributes);
  ibv_device& verbs = device->verbs;
  verbs.node_type = IBV_NODE_UNSPECIFIED;
  verbs.transport_type = IBV_TRANSPORT_UNSPECIFIED;
  snprintf(verbs.name, sizeof verbs.name, "%s", name.c_str());
  snprintf(verbs.dev_name, sizeof verbs.dev_name, "%s", uverbs.c_str());
  snprintf(verbs.dev_path, sizeof verbs.dev_path, "%s", path.c_str());
  snprintf(verbs.ibdev_path, sizeof verbs.ibdev_path, "%s", ibdev.c_str());
  return device;
}

}  // namespace

std::vector<Device*> list_devices() {
  static std::mutex listing;
  std::lock_guard lock(listing);
  const std::string root = sysfs_root();
  std::vector<Device*> devices;
  for (const auto& [number, uverbs] : uverbs_entries(root + "/class/infiniband_verbs")) {
    std::unique_ptr<Device>& known = known_devices()[root + "/" + uverbs];
    if (known == nullptr) known = read_device(root, uverbs);
    if (known != nullptr) devices.push_back(known.get());
  }
  return devices;
}

}  // namespace efa
