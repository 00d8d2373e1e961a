// Between our two libraries only.
#pragma once
#include <infiniband/verbs.h>

extern "C" {
int emulated_efa_query_device(ibv_context* context, void* into, uint32_t size);
int emulated_efa_query_ah(ibv_ah* ah, void* into, uint32_t size);
ibv_qp* emulated_efa_create_qp(ibv_context* context, ibv_qp_init_attr_ex* attr, const void* efa, uint32_t size);
ibv_cq_ex* emulated_efa_create_cq(ibv_context* context, ibv_cq_init_attr_ex* attr, const void* efa, uint32_t size);
void* emulated_efa_cq_extension(ibv_cq_ex* cq);
}
