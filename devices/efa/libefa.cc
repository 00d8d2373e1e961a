// libefa.so.1: the names. Everything behind them is in our libibverbs.so.1, which holds the devices.
#include <infiniband/efadv.h>

#include <cerrno>

#include "private-abi.h"

extern "C" {

int efadv_query_device(ibv_context* context, efadv_device_attr* into, uint32_t size) {
  return emulated_efa_query_device(context, into, size);
}
int efadv_query_ah(ibv_ah* ah, efadv_ah_attr* into, uint32_t size) { return emulated_efa_query_ah(ah, into, size); }
ibv_qp* efadv_create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attr, efadv_qp_init_attr* efa, uint32_t size) {
  return emulated_efa_create_qp(context, attr, efa, size);
}
/// The oldest way to make a queue pair; no provider since 2020 takes it.
ibv_qp* efadv_create_driver_qp(ibv_pd*, ibv_qp_init_attr*, uint32_t) {
  errno = EOPNOTSUPP;
  return nullptr;
}
ibv_cq_ex* efadv_create_cq(ibv_context* context, ibv_cq_init_attr_ex* attr, efadv_cq_init_attr* efa, uint32_t size) {
  return emulated_efa_create_cq(context, attr, efa, size);
}
efadv_cq* efadv_cq_from_ibv_cq_ex(ibv_cq_ex* cq) { return static_cast<efadv_cq*>(emulated_efa_cq_extension(cq)); }

// There are no queues in memory to work on directly. Callers fall back to the functions of libibverbs.
int efadv_query_mr(ibv_mr*, void*, uint32_t) { return EOPNOTSUPP; }
int efadv_query_qp_wqs(ibv_qp*, void*, void*, uint32_t) { return EOPNOTSUPP; }
int efadv_query_cq(ibv_cq*, void*, uint32_t) { return EOPNOTSUPP; }
int efadv_get_max_sq_depth(ibv_context*, void*, uint32_t) { return -EOPNOTSUPP; }
int efadv_get_max_rq_depth(ibv_context*, void*, uint32_t) { return -EOPNOTSUPP; }

}  // extern "C"
