// Functions that libraries link against and no provider of EFA calls: librdmacm, and other providers of libfabric,
// which find that these devices cannot do what they ask.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "attributes.h"
#include "newer-abi.h"

extern "C" {

ibv_srq* ibv_create_srq(ibv_pd*, ibv_srq_init_attr*) {
  errno = EOPNOTSUPP;
  return nullptr;
}
int ibv_modify_srq(ibv_srq*, ibv_srq_attr*, int) { return EOPNOTSUPP; }
int ibv_query_srq(ibv_srq*, ibv_srq_attr*) { return EOPNOTSUPP; }
int ibv_destroy_srq(ibv_srq*) { return EOPNOTSUPP; }
int ibv_attach_mcast(ibv_qp*, const ibv_gid*, uint16_t) { return EOPNOTSUPP; }
int ibv_detach_mcast(ibv_qp*, const ibv_gid*, uint16_t) { return EOPNOTSUPP; }
int ibv_rereg_mr(ibv_mr*, int, ibv_pd*, void*, size_t, int) { return IBV_REREG_MR_ERR_INPUT; }
int ibv_query_ece(ibv_qp*, ibv_ece*) { return EOPNOTSUPP; }
int ibv_set_ece(ibv_qp*, ibv_ece*) { return EOPNOTSUPP; }
int ibv_init_ah_from_wc(ibv_context*, uint8_t, ibv_wc*, ibv_grh*, ibv_ah_attr*) { return -1; }
ibv_ah* ibv_create_ah_from_wc(ibv_pd*, ibv_wc*, ibv_grh*, uint8_t) {
  errno = EOPNOTSUPP;
  return nullptr;
}
/// A device that has no events: readers of the descriptor wait, callers of this get an error.
int ibv_get_async_event(ibv_context*, ibv_async_event*) {
  errno = EAGAIN;
  return -1;
}
void ibv_ack_async_event(ibv_async_event*) {}

int _ibv_query_gid_ex(ibv_context* context, uint32_t port, uint32_t index, ibv_gid_entry* into, uint32_t, size_t size) {
  if (size < sizeof *into) return EINVAL;
  *into = {};
  into->gid_index = index;
  into->port_num = port;
  return ibv_query_gid(context, static_cast<uint8_t>(port), static_cast<int>(index), &into->gid);
}
ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* into, size_t most, uint32_t, size_t size) {
  if (most == 0) return -EINVAL;
  const int error = _ibv_query_gid_ex(context, 1, 0, into, 0, size);
  return error == 0 ? 1 : -error;
}

const char* ibv_get_sysfs_path(void) {
  static const std::string root = efa::sysfs_root();
  return root.c_str();
}
int ibv_read_sysfs_file(const char* folder, const char* name, char* into, size_t size) {
  const int file = open((std::string(folder) + "/" + name).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t got = read(file, into, size);
  close(file);
  if (got > 0 && into[got - 1] == '\n') got--;
  if (got >= 0 && static_cast<size_t>(got) < size) into[got] = '\0';
  return static_cast<int>(got);
}
// Of structures that only the kernel's connection manager hands out, which such a machine lacks.
void ibv_copy_ah_attr_from_kern(void*, void*) {}
void ibv_copy_qp_attr_from_kern(void*, void*) {}
void ibv_copy_path_rec_from_kern(void*, void*) {}
void ibv_copy_path_rec_to_kern(void*, void*) {}

int ibv_dontfork_range(void*, size_t) { return 0; }
int ibv_dofork_range(void*, size_t) { return 0; }
int ibv_rate_to_mult(ibv_rate) { return -1; }
ibv_rate mult_to_ibv_rate(int) { return IBV_RATE_MAX; }
int ibv_rate_to_mbps(ibv_rate) { return -1; }
ibv_rate mbps_to_ibv_rate(int) { return IBV_RATE_MAX; }

const char* ibv_wc_status_str(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS: return "success";
    case IBV_WC_WR_FLUSH_ERR: return "flushed";
    case IBV_WC_LOC_LEN_ERR: return "local length error";
    case IBV_WC_LOC_PROT_ERR: return "local protection error";
    case IBV_WC_LOC_QP_OP_ERR: return "local queue pair operation error";
    case IBV_WC_REM_ACCESS_ERR: return "remote access error";
    case IBV_WC_REM_INV_REQ_ERR: return "remote invalid request";
    case IBV_WC_REM_ABORT_ERR: return "remote abort";
    case IBV_WC_REM_OP_ERR: return "remote operation error";
    case IBV_WC_RNR_RETRY_EXC_ERR: return "receiver not ready, retries exceeded";
    case IBV_WC_RESP_TIMEOUT_ERR: return "unresponsive remote";
    default: return "general error";
  }
}
const char* ibv_node_type_str(ibv_node_type) { return "unspecified"; }
const char* ibv_port_state_str(ibv_port_state state) { return state == IBV_PORT_ACTIVE ? "active" : "down"; }
const char* ibv_event_type_str(ibv_event_type) { return "event"; }

}  // extern "C"
