// What a device says about itself.
#pragma once
#include <infiniband/verbs.h>

#include "newer-abi.h"

namespace efa {

int query_device(ibv_context* context, ibv_device_attr& into);
int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* into, size_t size);
int query_port(ibv_context* context, uint8_t port, ibv_port_attr* into, size_t size);
DeviceAttr query_efa(ibv_context* context);

}  // namespace efa
