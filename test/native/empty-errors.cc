// A libfabric whose completion queues announce errors that are not there, as a provider's may when another thread has
// read them: fi_cq_read answers FI_EAVAIL in the place of FI_EAGAIN, and fi_cq_readerr finds nothing. Everything else
// is the real library.
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

namespace {

fi_ops_cq realQueue, queue;
fi_ops_domain realDomain, domain;
fi_ops_fabric realFabric, fabric;

ssize_t read(fid_cq* cq, void* entries, size_t count) {
  ssize_t result = realQueue.read(cq, entries, count);
  return result == -FI_EAGAIN ? -FI_EAVAIL : result;
}

ssize_t readError(fid_cq*, fi_cq_err_entry*, uint64_t) { return 0; }

int openQueue(fid_domain* of, fi_cq_attr* attributes, fid_cq** opened, void* context) {
  int result = realDomain.cq_open(of, attributes, opened, context);
  if (result != 0) return result;
  realQueue = queue = *(*opened)->ops;
  queue.read = read;
  queue.readerr = readError;
  (*opened)->ops = &queue;
  return 0;
}

int openDomain(fid_fabric* of, fi_info* info, fid_domain** opened, void* context) {
  int result = realFabric.domain(of, info, opened, context);
  if (result != 0) return result;
  realDomain = domain = *(*opened)->ops;
  domain.cq_open = openQueue;
  (*opened)->ops = &domain;
  return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int fi_fabric(fi_fabric_attr* attributes, fid_fabric** opened, void* context) {
  void* library = dlopen("libfabric.so.1", RTLD_NOW);
  auto real = reinterpret_cast<decltype(&fi_fabric)>(dlvsym(library, "fi_fabric", "FABRIC_1.1"));
  int result = real(attributes, opened, context);
  if (result != 0) return result;
  realFabric = fabric = *(*opened)->ops;
  fabric.domain = openDomain;
  (*opened)->ops = &fabric;
  return 0;
}
