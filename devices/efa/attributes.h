// What the tree says about one device: its place, its address and its limits.
#pragma once
#include <netinet/in.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace efa {

struct Attributes {
  std::string folder;  // the device's emulation folder
  std::string ibdev;   // the device's folder below class/infiniband
  in_addr address{};
  uint32_t vendor_id = 0x1d0f;
  uint32_t part_id = 0xefa2;
  uint32_t mtu = 8928;
  uint8_t speed = 32;
  uint8_t width = 2;
  uint32_t sq_depth = 4096;
  uint32_t rq_depth = 8192;
  uint16_t inline_bytes = 32;
  uint16_t sq_sge = 2;
  uint16_t rq_sge = 2;
  uint32_t max_rdma = 1u << 30;
  uint32_t caps = 0x1f;
  bool shuffle = true;
  uint64_t seed = 1;
  uint32_t lifespan_ms = 10;
  uint32_t timeout_ms = 5000;
  std::string firmware;
  uint64_t guid = 0;  // as the kernel prints it, big-endian in memory
};

using KeyValues = std::map<std::string, std::string, std::less<>>;

/// The key=value lines of a file; absent when it cannot be read. Blank lines and lines that start with # are skipped.
std::optional<KeyValues> read_key_values(const std::string& path);

/// The first line of a file, without its end; empty when it cannot be read.
std::string read_line(const std::string& path);

/// Absent when `ibdev` is not an emulated device.
std::optional<Attributes> read_attributes(const std::string& ibdev);

/// $SYSFS_PATH without trailing slashes, /sys where it is not set.
std::string sysfs_root();

}  // namespace efa
