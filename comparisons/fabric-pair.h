/*
 * Two processes on this machine with libfabric endpoints, as plainly as the interface allows. The parent is rank 0,
 * the forked child rank 1; they exchange addresses and keys over a socket pair.
 */
#ifndef WEFT_FABRIC_PAIR_H
#define WEFT_FABRIC_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

struct side {
    int rank;
    int socket; /* to the other rank */
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    struct fid_mr *mr;
    fi_addr_t peer;
    char *out; /* what this side sends from */
    char *in;  /* what the peer writes or sends to */
    void *desc;
    uint64_t peer_in; /* address and key of the peer's `in` */
    uint64_t peer_key;
    uint64_t sent, received; /* completions seen since the start */
    unsigned empty_polls;
};

/* Ends the process with a message when `code` is not 0. */
void must(int code, const char *operation);

struct side_options {
    const char *provider;
    uint64_t caps;     /* FI_MSG, FI_RMA or both */
    uint64_t op_flags; /* of every operation, such as FI_DELIVERY_COMPLETE */
    size_t bytes;      /* room in `out` and in `in` */
    bool huge_pages;
};

/* The fabric and the domain; then what lives in a domain: address vector, queue, endpoint, buffer and its region. */
void side_open_domain(struct side *side, const struct side_options *options);
void side_open_endpoint(struct side *side, const struct side_options *options);
void side_close_endpoint(struct side *side);
void side_close_domain(struct side *side);

/* Tells the peer where we are and learns where it is. Blocks until both have called it. */
void side_connect(struct side *side);

/* Blocks until both have called it; all queues are polled meanwhile, since providers progress only then. */
void side_meet(struct side *sides, int count);

/* Reads the queue once and counts what it finds; yields the core after 400 empty reads in a row. */
void side_poll(struct side *side);

/* Posts, and polls while the provider has no room. */
#define POST(side, call)                                            \
    do {                                                            \
        ssize_t code_;                                              \
        while ((code_ = (call)) == -FI_EAGAIN) side_poll(side);     \
        must((int)code_, #call);                                    \
    } while (0)

/*
 * Writes from `out` to the peer's `in`, with data for its queue. By message and not fi_writedata: `net` in libfabric
 * 1.17 heeds FI_DELIVERY_COMPLETE only when the call names it.
 */
static inline void side_write(struct side *side, size_t offset, size_t bytes, uint64_t data, uint64_t flags)
{
    struct iovec from = {.iov_base = side->out + offset, .iov_len = bytes};
    struct fi_rma_iov to = {.addr = side->peer_in + offset, .len = bytes, .key = side->peer_key};
    struct fi_msg_rma message = {.msg_iov = &from, .desc = &side->desc, .iov_count = 1, .addr = side->peer,
                                 .rma_iov = &to, .rma_iov_count = 1, .data = data};
    POST(side, fi_writemsg(side->ep, &message, flags | FI_REMOTE_CQ_DATA | FI_COMPLETION));
}

/* Every byte that arrived is the peer's rank + 1; otherwise the process ends with a message. */
void side_check(const struct side *side, size_t bytes);

/* Forks and runs both ranks, each with its end of a socket pair; the exit code of the program. */
int run_pair(void (*be_rank)(int rank, int socket, const void *settings), const void *settings);

/* Ends a line of JSON: `"samples":[…],"nanoseconds":{…}}`. Sorts them. */
void print_samples(double *samples, size_t count);

void pin_to_core(int core);
uint64_t now_ns(void);

#endif
