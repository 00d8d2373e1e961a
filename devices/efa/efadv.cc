// What libefa.so.1 passes on: the part of the interface that is EFA's own. `size` is what the caller knows of a structure.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "context.h"
#include "private-abi.h"
#include "queries.h"
#include "queue-pair.h"

namespace {

template <typename T>
T read_known(const void* from, uint32_t size) {
  T value{};
  std::memcpy(static_cast<void*>(&value), from, std::min<size_t>(size, sizeof value));
  return value;
}

template <typename T>
void write_known(const T& value, void* into, uint32_t size) {
  std::memcpy(into, &value, std::min<size_t>(size, sizeof value));
}

}  // namespace

extern "C" {

int emulated_efa_query_device(ibv_context* context, void* into, uint32_t size) {
  write_known(efa::query_efa(context), into, size);
  return 0;
}

int emulated_efa_query_ah(ibv_ah* ah, void* into, uint32_t size) {
  efa::AhAttr attr{};
  attr.ahn = reinterpret_cast<efa::AddressHandle*>(ah)->number;
  write_known(attr, into, size);
  return 0;
}

ibv_qp* emulated_efa_create_qp(ibv_context* context, ibv_qp_init_attr_ex* attr, const void* efa, uint32_t size) {
  const auto known = read_known<efa::QpInitAttr>(efa, size);
  if (known.comp_mask != 0 || known.driver_qp_type != EFADV_QP_DRIVER_TYPE_SRD) {
    errno = EINVAL;
    return nullptr;
  }
  return efa::create_queue_pair(context, *attr, known);
}

ibv_cq_ex* emulated_efa_create_cq(ibv_context* context, ibv_cq_init_attr_ex* attr, const void* efa, uint32_t size) {
  const auto known = read_known<efa::CqInitAttr>(efa, size);
  return efa::create_completion_queue(context, *attr, &known);
}

void* emulated_efa_cq_extension(ibv_cq_ex* cq) { return &efa::CompletionQueue::of(cq).extension; }

}  // extern "C"
