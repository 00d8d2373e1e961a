#define _GNU_SOURCE
#include "fabric-pair.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { polls_before_yield = 400, polls_per_look = 16, entries_per_read = 16, address_bytes = 256 };

static const size_t alignment = 2u << 20; /* a huge page */

void must(int code, const char *operation)
{
    if (code == 0) return;
    fprintf(stderr, "%s: %s\n", operation, code < 0 ? fi_strerror(-code) : strerror(errno));
    exit(1);
}

uint64_t now_ns(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void pin_to_core(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    must(sched_setaffinity(0, sizeof set, &set), "sched_setaffinity");
}

static struct fi_info *find(const char *provider, uint64_t caps, uint64_t op_flags)
{
    struct fi_info *hints = fi_allocinfo();
    struct fi_info *found = NULL;
    if (hints == NULL) must(-FI_ENOMEM, "fi_allocinfo");
    hints->caps = caps;
    hints->tx_attr->op_flags = op_flags;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->av_type = FI_AV_TABLE;
    hints->fabric_attr->prov_name = strdup(provider);
    /* A provider with network addresses is bound to loopback; shared memory has none to bind to. */
    bool named = strcmp(provider, "shm") != 0;
    int code = fi_getinfo(FI_VERSION(1, 17), named ? "127.0.0.1" : NULL, named ? "0" : NULL,
                          named ? FI_SOURCE : 0, hints, &found);
    must(code, "fi_getinfo");
    fi_freeinfo(hints);
    return found;
}

static char *allocate(size_t bytes, bool huge_pages)
{
    void *memory = NULL;
    errno = posix_memalign(&memory, alignment, bytes);
    must(errno, "posix_memalign");
    if (huge_pages) must(madvise(memory, bytes, MADV_HUGEPAGE), "madvise");
    memset(memory, 1, bytes); /* first touch is not to be timed */
    return memory;
}

static void register_buffer(struct side *side, size_t total)
{
    uint64_t access = FI_SEND | FI_RECV | FI_WRITE | FI_REMOTE_WRITE;
    uint64_t key = 1 + (uint64_t)side->rank;
    must(fi_mr_reg(side->domain, side->out, total, access, 0, key, 0, &side->mr, NULL), "fi_mr_reg");
    if (side->info->domain_attr->mr_mode & FI_MR_LOCAL) side->desc = fi_mr_desc(side->mr);
}

void side_open_domain(struct side *side, const struct side_options *options)
{
    side->info = find(options->provider, options->caps, options->op_flags);
    must(fi_fabric(side->info->fabric_attr, &side->fabric, NULL), "fi_fabric");
    must(fi_domain(side->fabric, side->info, &side->domain, NULL), "fi_domain");
}

void side_open_endpoint(struct side *side, const struct side_options *options)
{
    struct fi_cq_attr cq = {0};
    struct fi_av_attr av = {0};
    av.type = FI_AV_TABLE;
    must(fi_av_open(side->domain, &av, &side->av, NULL), "fi_av_open");
    cq.format = FI_CQ_FORMAT_DATA;
    cq.wait_obj = FI_WAIT_NONE;
    cq.size = side->info->tx_attr->size + side->info->rx_attr->size;
    must(fi_cq_open(side->domain, &cq, &side->cq, NULL), "fi_cq_open");
    must(fi_endpoint(side->domain, side->info, &side->ep, NULL), "fi_endpoint");
    must(fi_ep_bind(side->ep, &side->av->fid, 0), "fi_ep_bind address vector");
    must(fi_ep_bind(side->ep, &side->cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind queue");
    must(fi_enable(side->ep), "fi_enable");

    size_t half = (options->bytes + alignment - 1) / alignment * alignment;
    if (half == 0) half = alignment;
    side->out = allocate(2 * half, options->huge_pages);
    side->in = side->out + half;
    register_buffer(side, 2 * half);
}

void side_close_endpoint(struct side *side)
{
    struct fid *children[] = {&side->ep->fid, &side->mr->fid, &side->cq->fid, &side->av->fid};
    for (size_t i = 0; i < sizeof children / sizeof *children; i++) must(fi_close(children[i]), "fi_close");
    free(side->out);
}

void side_close_domain(struct side *side)
{
    must(fi_close(&side->domain->fid), "fi_close domain");
    must(fi_close(&side->fabric->fid), "fi_close fabric");
    fi_freeinfo(side->info);
}

struct card {
    char address[address_bytes];
    uint64_t address_bytes;
    uint64_t in;
    uint64_t key;
};

void side_connect(struct side *side)
{
    struct card mine = {0}, theirs = {0};
    size_t length = sizeof mine.address;
    must(fi_getname(&side->ep->fid, mine.address, &length), "fi_getname");
    mine.address_bytes = length;
    mine.key = fi_mr_key(side->mr);
    bool virtual_addresses = side->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    mine.in = virtual_addresses ? (uintptr_t)side->in : (uintptr_t)(side->in - side->out);
    must(send(side->socket, &mine, sizeof mine, MSG_NOSIGNAL) != sizeof mine, "send");
    must(recv(side->socket, &theirs, sizeof theirs, MSG_WAITALL) != sizeof theirs, "recv");
    side->peer_in = theirs.in;
    side->peer_key = theirs.key;
    must(fi_av_insert(side->av, theirs.address, 1, &side->peer, 0, NULL) != 1, "fi_av_insert");
}

void side_meet(struct side *sides, int count)
{
    char token = 1;
    must(send(sides->socket, &token, 1, MSG_NOSIGNAL) != 1, "send");
    for (;;) {
        ssize_t n = recv(sides->socket, &token, 1, MSG_DONTWAIT);
        if (n == 1) return;
        if (n == 0) errno = EPIPE;
        must(n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK), "the other rank is gone");
        for (int i = 0; i < polls_per_look * count; i++) side_poll(&sides[i % count]);
    }
}

static void fail_with_queue_error(struct side *side)
{
    struct fi_cq_err_entry error = {0};
    fi_cq_readerr(side->cq, &error, 0);
    fprintf(stderr, "rank %d: %s (%s)\n", side->rank, fi_strerror(error.err),
            fi_cq_strerror(side->cq, error.prov_errno, error.err_data, NULL, 0));
    exit(1);
}

void side_poll(struct side *side)
{
    struct fi_cq_data_entry entries[entries_per_read];
    ssize_t n = fi_cq_read(side->cq, entries, entries_per_read);
    if (n > 0) {
        side->empty_polls = 0;
        /* Our own operations first: some providers mark a completed write with data as remote data, too. */
        for (ssize_t i = 0; i < n; i++) {
            if (entries[i].flags & (FI_SEND | FI_WRITE | FI_READ)) side->sent++;
            else side->received++;
        }
        return;
    }
    if (n != -FI_EAGAIN) fail_with_queue_error(side);
    if (++side->empty_polls > polls_before_yield) sched_yield();
}

void side_check(const struct side *side, size_t bytes)
{
    char expected = (char)(2 - side->rank);
    for (size_t i = 0; i < bytes; i++) {
        if (side->in[i] == expected) continue;
        fprintf(stderr, "rank %d: byte %zu is %d, not %d\n", side->rank, i, side->in[i], expected);
        exit(1);
    }
}

int run_pair(void (*be_rank)(int rank, int socket, const void *settings), const void *settings)
{
    int sockets[2];
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), "socketpair");
    pid_t parent = getpid();
    pid_t child = fork();
    must(child < 0, "fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) return 1;
        close(sockets[0]);
        be_rank(1, sockets[1], settings);
        return 0;
    }
    close(sockets[1]);
    be_rank(0, sockets[0], settings);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void print_samples(double *samples, size_t count)
{
    double sum = 0;
    printf("\"samples\":[");
    for (size_t i = 0; i < count; i++) {
        sum += samples[i];
        printf("%s%.1f", i ? "," : "", samples[i]);
    }
    qsort(samples, count, sizeof *samples, ascending);
    printf("],\"nanoseconds\":{\"min\":%.1f,\"p25\":%.1f,\"median\":%.1f,\"mean\":%.1f}}\n", samples[0],
           samples[count / 4], samples[count / 2], sum / (double)count);
}
