#pragma once
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <cstdint>
#include <string>

namespace weft {

/// libfabric, opened at run time. Everything but these few symbols is inline dispatch in its headers.
struct Library {
  std::string path;  // as asked for
  std::string file;  // as the loader found it
  uint32_t version = 0;  // FI_VERSION(major, minor) of the opened library
  decltype(&::fi_getinfo) getinfo = nullptr;
  decltype(&::fi_freeinfo) freeinfo = nullptr;
  decltype(&::fi_dupinfo) dupinfo = nullptr;
  decltype(&::fi_fabric) fabric = nullptr;
  decltype(&::fi_strerror) strerror = nullptr;

  /// Opens `path` for the life of the process. A second call must name the same library.
  static const Library& open(const std::string& path);
  /// The opened library; a Fault if there is none.
  static const Library& get();
};

/// Whether ranks may read each other's memory.
bool offersReads(const fi_info& info);

/// Throws a Fault in libfabric's words when `result` is negative.
void check(long result, const char* operation);

}  // namespace weft
