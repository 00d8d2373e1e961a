// One queue pair on one device, driven by lines on standard input; every line gets one line of answer.
// Usage: peer DEVICE. Memory is one buffer of 16 MiB whose byte i is i * 31 + i / 251, until something arrives.
#include <errno.h>
#include <infiniband/efadv.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BYTES (16u << 20)
#define DEPTH 1024

static struct ibv_context *device;
static struct ibv_pd *pd;
static struct ibv_mr *memory;
static struct ibv_cq_ex *cq;
static struct ibv_qp *qp;
static struct ibv_ah *peer;
static uint8_t *buffer;
static uint32_t peer_qp, peer_key;
static uint64_t peer_address;

static void give_up(const char *what) {
  printf("failed %s: %s\n", what, strerror(errno));
  fflush(stdout);
  exit(1);
}

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static uint8_t pattern(uint64_t i) { return (uint8_t)(i * 31 + i / 251); }

static void fill(void) {
  for (uint64_t i = 0; i < BYTES; i++) buffer[i] = pattern(i);
}

static void open_device(const char *name) {
  struct ibv_device **list = ibv_get_device_list(NULL);
  for (int i = 0; list[i] != NULL; i++) {
    if (strcmp(ibv_get_device_name(list[i]), name) == 0) device = ibv_open_device(list[i]);
  }
  ibv_free_device_list(list);
  if (device == NULL) give_up("open");
  pd = ibv_alloc_pd(device);
  buffer = malloc(BYTES);
  fill();
  memory = ibv_reg_mr(pd, buffer, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
  if (memory == NULL) give_up("register");
}

static void change_state(enum ibv_qp_state state, int mask) {
  struct ibv_qp_attr attr = {.qp_state = state, .port_num = 1, .qkey = 7, .rnr_retry = 3};
  if (ibv_modify_qp(qp, &attr, mask | IBV_QP_STATE) != 0) give_up("modify");
}

static void open_queue_pair(void) {
  struct ibv_cq_init_attr_ex cq_attr = {.cqe = 4 * DEPTH, .wc_flags = IBV_WC_STANDARD_FLAGS};
  struct efadv_cq_init_attr efa_cq = {.wc_flags = 3};  // source GID, unsolicited
  cq = efadv_create_cq(device, &cq_attr, &efa_cq, sizeof efa_cq);
  if (cq == NULL) give_up("create cq");
  struct ibv_qp_init_attr_ex attr = {.qp_type = IBV_QPT_DRIVER, .pd = pd, .sq_sig_all = 1};
  attr.send_cq = attr.recv_cq = ibv_cq_ex_to_cq(cq);
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  attr.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
                        IBV_QP_EX_WITH_RDMA_READ;
  attr.cap = (struct ibv_qp_cap){DEPTH, DEPTH, 1, 1, 0};
  struct efadv_qp_init_attr efa = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};
  efa.reserved[0] = 1;  // unsolicited completions of writes; older headers do not name the field
  qp = efadv_create_qp_ex(device, &attr, &efa, sizeof efa);
  if (qp == NULL) give_up("create qp");
  change_state(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  change_state(IBV_QPS_RTR, 0);
  change_state(IBV_QPS_RTS, IBV_QP_SQ_PSN | IBV_QP_RNR_RETRY);
}

static void introduce(void) {
  union ibv_gid gid;
  ibv_query_gid(device, 1, 0, &gid);
  for (int i = 0; i < 16; i++) printf("%02x", gid.raw[i]);
  printf(" %u %" PRIu64 " %u\n", qp->qp_num, (uint64_t)(uintptr_t)buffer, memory->rkey);
}

static void meet(const char *line) {
  char gid[33];
  struct ibv_ah_attr attr = {.port_num = 1, .is_global = 1};
  sscanf(line, "%32s %u %" SCNu64 " %u", gid, &peer_qp, &peer_address, &peer_key);
  for (int i = 0; i < 16; i++) sscanf(gid + 2 * i, "%2hhx", &attr.grh.dgid.raw[i]);
  peer = ibv_create_ah(pd, &attr);
  puts("met");
}

/// "write 4096 10 8000": ten of 4096 bytes each, one after another in both buffers from offset 8000 on.
static void post(const char *kind, uint32_t bytes, unsigned count, uint64_t offset) {
  struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
  int error = 0;
  unsigned posted = 0;
  for (; posted < count && error == 0; posted += error == 0) {
    const uint64_t at = offset + (uint64_t)posted * bytes;
    ibv_wr_start(ex);
    ex->wr_id = posted;
    if (strcmp(kind, "send") == 0) ibv_wr_send(ex);
    else if (strcmp(kind, "read") == 0) ibv_wr_rdma_read(ex, peer_key, peer_address + at);
    else if (strcmp(kind, "write") == 0) ibv_wr_rdma_write(ex, peer_key, peer_address + at);
    else ibv_wr_rdma_write_imm(ex, peer_key, peer_address + at, posted);
    ibv_wr_set_sge(ex, memory->lkey, (uintptr_t)buffer + at, bytes);
    ibv_wr_set_ud_addr(ex, peer, peer_qp, 7);
    error = ibv_wr_complete(ex);
  }
  printf("%u %d\n", posted, error);
}

static void receive(uint32_t bytes, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    struct ibv_sge sge = {(uintptr_t)buffer + (uint64_t)i * bytes, bytes, memory->lkey};
    struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1}, *bad;
    if (ibv_post_recv(qp, &wr, &bad) != 0) give_up("receive");
  }
  puts("posted");
}

/// For each completion: opcode:status:id:length, where the id of an immediate's completion is the immediate. With
/// `look`, also how many bytes of what an immediate announces are not there yet.
static void await(unsigned count, double for_ms, int look) {
  struct ibv_poll_cq_attr attr = {0};
  const double until = now_ms() + for_ms;
  for (unsigned got = 0; got < count && now_ms() < until;) {
    if (ibv_start_poll(cq, &attr) != 0) continue;
    do {
      const enum ibv_wc_opcode opcode = ibv_wc_read_opcode(cq);
      const int immediate = opcode == IBV_WC_RECV_RDMA_WITH_IMM;
      const uint64_t id = immediate ? ibv_wc_read_imm_data(cq) : cq->wr_id;
      const uint32_t length = ibv_wc_read_byte_len(cq);
      printf("%d:%u:%" PRIu64 ":%u", opcode, ibv_wc_read_vendor_err(cq), id, length);
      if (look && immediate) {
        unsigned missing = 0;
        for (uint64_t i = id * length; i < (id + 1) * length; i++) missing += buffer[i] != pattern(i);
        printf(":%u", missing);
      }
      printf(" ");
    } while (++got < count && ibv_next_poll(cq) == 0);
    ibv_end_poll(cq);
  }
  puts("");
}

static void check(uint64_t bytes) {
  unsigned wrong = 0;
  for (uint64_t i = 0; i < bytes; i++) wrong += buffer[i] != pattern(i);
  printf("%u\n", wrong);
}

static void close_all(void) {
  const double before = now_ms();
  if (peer != NULL) ibv_destroy_ah(peer);
  ibv_destroy_qp(qp);
  ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
  ibv_dereg_mr(memory);
  ibv_dealloc_pd(pd);
  ibv_close_device(device);
  printf("%.0f\n", now_ms() - before);
}

int main(int argc, char **argv) {
  char line[512], kind[32];
  unsigned count, bytes;
  uint64_t offset;
  double ms;
  setvbuf(stdout, NULL, _IOFBF, 1 << 20);
  open_device(argc > 1 ? argv[1] : "");
  open_queue_pair();
  introduce();
  for (fflush(stdout); fgets(line, sizeof line, stdin) != NULL; fflush(stdout)) {
    if (strncmp(line, "meet ", 5) == 0) meet(line + 5);
    else if (sscanf(line, "receive %u %u", &bytes, &count) == 2) receive(bytes, count);
    else if (sscanf(line, "await %u %lf", &count, &ms) == 2) await(count, ms, 0);
    else if (sscanf(line, "look %u %lf", &count, &ms) == 2) await(count, ms, 1);
    else if (sscanf(line, "check %u", &bytes) == 1) check(bytes);
    else if (strcmp(line, "wipe\n") == 0) memset(buffer, 0, BYTES), puts("wiped");
    else if (strcmp(line, "fill\n") == 0) fill(), puts("filled");
    else if (strcmp(line, "close\n") == 0) close_all();
    else if (sscanf(line, "%31s %u %u %" SCNu64, kind, &bytes, &count, &offset) == 4) post(kind, bytes, count, offset);
    else puts("?");
  }
  return 0;
}
