// The functions of libibverbs that a provider of EFA calls.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "context.h"
#include "device-list.h"
#include "queries.h"
#include "queue-pair.h"

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

using efa::Context;

extern "C" {

ibv_device** ibv_get_device_list(int* count) {
  const auto devices = efa::list_devices();
  auto** list = static_cast<ibv_device**>(calloc(devices.size() + 1, sizeof(ibv_device*)));
  if (list == nullptr) return nullptr;
  for (size_t i = 0; i < devices.size(); i++) list[i] = &devices[i]->verbs;
  if (count != nullptr) *count = static_cast<int>(devices.size());
  return list;
}
void ibv_free_device_list(ibv_device** list) { free(list); }
const char* ibv_get_device_name(ibv_device* device) { return device->name; }
__be64 ibv_get_device_guid(ibv_device* device) { return reinterpret_cast<efa::Device*>(device)->attributes.guid; }
int ibv_get_device_index(ibv_device* device) { return static_cast<int>(strtol(device->dev_name + 6, nullptr, 10)); }

ibv_context* ibv_open_device(ibv_device* device) { return efa::open_context(device); }
int ibv_close_device(ibv_context* context) { return efa::close_context(context); }

int ibv_query_device(ibv_context* context, ibv_device_attr* into) { return efa::query_device(context, *into); }
/// Callers that know less of the structure than we do call this one.
int ibv_query_port(ibv_context* context, uint8_t port, _compat_ibv_port_attr* into) {
  return efa::query_port(context, port, reinterpret_cast<ibv_port_attr*>(into), offsetof(ibv_port_attr, port_cap_flags2));
}
int ibv_query_gid(ibv_context* context, uint8_t port, int index, ibv_gid* into) {
  if (port != 1 || index != 0) return EINVAL;
  const efa::Gid gid = efa::gid_of(Context::of(context).attributes.address);
  std::memcpy(into->raw, gid.data(), gid.size());
  return 0;
}
int ibv_query_pkey(ibv_context*, uint8_t port, int index, __be16* into) {
  if (port != 1 || index != 0) return EINVAL;
  *into = 0xffff;
  return 0;
}
int ibv_get_pkey_index(ibv_context*, uint8_t, __be16 pkey) { return pkey == 0xffff ? 0 : -1; }

ibv_pd* ibv_alloc_pd(ibv_context* context) { return new ibv_pd{context, 0}; }
int ibv_dealloc_pd(ibv_pd* pd) {
  delete pd;
  return 0;
}

ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, size_t length, uint64_t iova, unsigned access) {
  return Context::of(pd->context).memory.add(pd, address, length, iova, static_cast<int>(access));
}
ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, size_t length, int access) {
  return ibv_reg_mr_iova2(pd, address, length, reinterpret_cast<uint64_t>(address), static_cast<unsigned>(access));
}
ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, size_t length, uint64_t iova, int access) {
  return ibv_reg_mr_iova2(pd, address, length, iova, static_cast<unsigned>(access));
}
/// Memory of other devices cannot be reached from here.
ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, uint64_t, size_t, uint64_t, int, int) {
  errno = EOPNOTSUPP;
  return nullptr;
}
int ibv_dereg_mr(ibv_mr* mr) { return efa::is_beyond_closing() ? 0 : Context::of(mr->context).memory.remove(mr); }

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  efa::Gid gid;
  std::memcpy(gid.data(), attr->grh.dgid.raw, gid.size());
  return &Context::of(pd->context).addresses.add(pd, gid)->ah;
}
int ibv_destroy_ah(ibv_ah* ah) {
  if (!efa::is_beyond_closing()) Context::of(ah->context).addresses.remove(reinterpret_cast<efa::AddressHandle*>(ah));
  return 0;
}

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return nullptr;
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  return &(new efa::CompletionChannel{{context, ends[0], 0}, ends[1]})->channel;
}
int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  if (channel->refcnt > 0) return EBUSY;
  efa::CompletionChannel& self = efa::CompletionChannel::of(channel);
  close(self.channel.fd);
  close(self.writing_end);
  delete &self;
  return 0;
}
int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  void* who;
  if (read(channel->fd, &who, sizeof who) != sizeof who) return -1;
  *cq = static_cast<ibv_cq*>(who);
  *cq_context = (*cq)->cq_context;
  return 0;
}
void ibv_ack_cq_events(ibv_cq*, unsigned) {}

ibv_cq* ibv_create_cq(ibv_context* context, int entries, void* cq_context, ibv_comp_channel* channel, int) {
  ibv_cq_init_attr_ex attr{};
  attr.cqe = static_cast<uint32_t>(entries);
  attr.cq_context = cq_context;
  attr.channel = channel;
  return reinterpret_cast<ibv_cq*>(efa::create_completion_queue(context, attr, nullptr));
}
int ibv_resize_cq(ibv_cq*, int) { return EOPNOTSUPP; }
int ibv_destroy_cq(ibv_cq* cq) { return efa::is_beyond_closing() ? 0 : efa::destroy_completion_queue(cq); }

/// Connected and datagram queue pairs: no EFA device has the first, this one lacks the second.
ibv_qp* ibv_create_qp(ibv_pd*, ibv_qp_init_attr*) {
  errno = EOPNOTSUPP;
  return nullptr;
}
int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) { return efa::QueuePair::of(qp).modify(*attr, mask); }
int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int, ibv_qp_init_attr* init) {
  *attr = {};
  *init = {};
  attr->qp_state = attr->cur_qp_state = qp->state;
  attr->qkey = efa::QueuePair::of(qp).qkey;
  attr->port_num = 1;
  return 0;
}
int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, uint32_t) { return 0; }
int ibv_destroy_qp(ibv_qp* qp) { return efa::is_beyond_closing() ? 0 : efa::destroy_queue_pair(qp); }
ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) { return reinterpret_cast<ibv_qp_ex*>(qp); }

/// Registered memory is ordinary memory: a child of fork needs no care.
int ibv_fork_init(void) { return 0; }
ibv_fork_status ibv_is_fork_initialized(void) { return IBV_FORK_UNNEEDED; }

}  // extern "C"
