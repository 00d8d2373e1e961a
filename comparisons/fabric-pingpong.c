/*
 * The plain C loop over libfabric that Weft's engine is compared with.
 *
 * sendrecv  rank 0 sends, rank 1 answers; a sample is half a round trip.
 * write     the same with writes that carry data for the peer's completion queue.
 * writebw   rank 0 writes SIZE bytes in chunks, at most WINDOW in flight, each with data and delivery complete;
 *           a sample is the time from the first post to the last completion.
 *
 * The clock is rank 0's and is read once per batch. Prints one line of JSON.
 */
#define _GNU_SOURCE
#include "fabric-pair.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum operation { sendrecv, write_pingpong, writebw };
static const char *const operation_names[] = {"sendrecv", "write", "writebw"};

struct settings {
    const char *provider;
    enum operation operation;
    size_t bytes, chunk;
    uint64_t iterations, warmup, batch, window;
    int cores[2]; /* -1: not pinned */
    bool delivery_complete, huge_pages;
    unsigned timeout_s;
};

static inline void wait_received(struct side *side, uint64_t count)
{
    while (side->received < count) side_poll(side);
}

static inline void wait_sent(struct side *side, uint64_t count)
{
    while (side->sent < count) side_poll(side);
}

static void post_recv(struct side *side, size_t bytes)
{
    POST(side, fi_recv(side->ep, side->in, bytes, side->desc, side->peer, NULL));
}

/* Hands the message to the peer and returns when `out` may be used again. */
static void send_message(struct side *side, size_t bytes)
{
    if (bytes <= side->info->tx_attr->inject_size) {
        POST(side, fi_inject(side->ep, side->out, bytes, side->peer));
        return;
    }
    uint64_t target = side->sent + 1;
    POST(side, fi_send(side->ep, side->out, bytes, side->desc, side->peer, NULL));
    wait_sent(side, target);
}

static void write_message(struct side *side, const struct settings *s)
{
    uint64_t data = (uint64_t)side->rank, target = side->sent + 1;
    if (s->delivery_complete) {
        side_write(side, 0, s->bytes, data, FI_DELIVERY_COMPLETE);
    } else if (s->bytes <= side->info->tx_attr->inject_size) {
        POST(side, fi_inject_writedata(side->ep, side->out, s->bytes, data, side->peer, side->peer_in, side->peer_key));
        return;
    } else {
        POST(side, fi_writedata(side->ep, side->out, s->bytes, side->desc, data, side->peer, side->peer_in,
                                side->peer_key, NULL));
    }
    wait_sent(side, target);
}

/* In both, arrivals are counted from the start of the run (`before`): the next one may come before we look for it. */
static void sendrecv_batch(struct side *side, const struct settings *s, uint64_t before, uint64_t count)
{
    for (uint64_t i = 1; i <= count; i++) {
        if (side->rank == 0) send_message(side, s->bytes);
        wait_received(side, before + i);
        post_recv(side, s->bytes);
        if (side->rank == 1) send_message(side, s->bytes);
    }
}

static void write_batch(struct side *side, const struct settings *s, uint64_t before, uint64_t count)
{
    for (uint64_t i = 1; i <= count; i++) {
        if (side->rank == 0) write_message(side, s);
        wait_received(side, before + i);
        if (side->rank == 1) write_message(side, s);
    }
}

static uint64_t chunks_of(const struct settings *s)
{
    return s->bytes == 0 ? 1 : (s->bytes + s->chunk - 1) / s->chunk;
}

static void writebw_batch(struct side *side, const struct settings *s, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t before = side->sent, chunks = chunks_of(s);
        for (uint64_t c = 0; c < chunks; c++) {
            size_t offset = c * s->chunk;
            size_t bytes = s->bytes - offset < s->chunk ? s->bytes - offset : s->chunk;
            while (c - (side->sent - before) >= s->window) side_poll(side);
            side_write(side, offset, bytes, c, FI_DELIVERY_COMPLETE);
        }
        wait_sent(side, before + chunks);
    }
}

static void run_batch(struct side *side, const struct settings *s, uint64_t done, uint64_t count)
{
    if (s->operation == sendrecv) sendrecv_batch(side, s, done, count);
    else if (s->operation == write_pingpong) write_batch(side, s, done, count);
    else if (side->rank == 0) writebw_batch(side, s, count);
    else wait_received(side, (done + count) * chunks_of(s));
}

/* Returns the number of samples, written to `samples` in nanoseconds. */
static size_t run(struct side *side, const struct settings *s, double *samples)
{
    uint64_t total = s->warmup + s->iterations;
    int transfers = s->operation == writebw ? 1 : 2;
    size_t count = 0;
    if (s->operation == sendrecv) post_recv(side, s->bytes);
    side_meet(side, 1);
    for (uint64_t done = 0; done < total;) {
        uint64_t left = done < s->warmup ? s->warmup - done : total - done;
        uint64_t batch = left < s->batch ? left : s->batch;
        uint64_t start = now_ns();
        run_batch(side, s, done, batch);
        uint64_t elapsed = now_ns() - start;
        if (done >= s->warmup) samples[count++] = (double)elapsed / (double)(batch * transfers);
        done += batch;
    }
    side_meet(side, 1);
    return count;
}

static void print_result(const struct side *side, const struct settings *s, double *samples, size_t count)
{
    printf("{\"program\":\"fabric-pingpong\",\"provider\":\"%s\",\"library\":\"%u.%u\",\"op\":\"%s\",\"bytes\":%zu,"
           "\"iterations\":%lu,\"batch\":%lu,\"deliveryComplete\":%s,",
           side->info->fabric_attr->prov_name, FI_MAJOR(fi_version()), FI_MINOR(fi_version()),
           operation_names[s->operation], s->bytes, s->iterations, s->batch, s->delivery_complete ? "true" : "false");
    if (s->operation == writebw) printf("\"chunk\":%zu,\"window\":%lu,", s->chunk, s->window);
    print_samples(samples, count);
}

static void be_rank(int rank, int socket, const void *settings)
{
    const struct settings *s = settings;
    struct side side = {.rank = rank, .socket = socket};
    struct side_options options = {.provider = s->provider, .bytes = s->bytes, .huge_pages = s->huge_pages};
    options.caps = s->operation == sendrecv ? FI_MSG : FI_MSG | FI_RMA;
    if (s->delivery_complete) options.op_flags = FI_DELIVERY_COMPLETE;
    alarm(s->timeout_s);
    side_open_domain(&side, &options);
    side_open_endpoint(&side, &options);
    /* After opening: a provider's own threads (sockets has some) are not to share the core with this loop. */
    if (s->cores[rank] >= 0) pin_to_core(s->cores[rank]);
    memset(side.out, rank + 1, s->bytes);
    side_connect(&side);
    double *samples = calloc(s->iterations / s->batch + 1, sizeof *samples);
    if (samples == NULL) must(-FI_ENOMEM, "calloc");
    size_t count = run(&side, s, samples);
    /* Every side sends its rank + 1 in every byte. */
    if (s->operation != writebw || rank == 1) side_check(&side, s->bytes);
    if (rank == 0) print_result(&side, s, samples, count);
    free(samples);
    /* Not left to the end of the process: shm's segment would stay in /dev/shm. */
    side_close_endpoint(&side);
    side_close_domain(&side);
}

static void usage(void)
{
    fputs("usage: fabric-pingpong [--provider P] [--op sendrecv|write|writebw] [--size BYTES] [--iterations N]\n"
          "         [--warmup N] [--batch N] [--chunk BYTES] [--window N] [--cores A,B] [--delivery-complete]\n"
          "         [--huge-pages] [--timeout SECONDS]\n",
          stderr);
    exit(2);
}

static enum operation operation_named(const char *name)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(name, operation_names[i]) == 0) return (enum operation)i;
    usage();
    return sendrecv;
}

static struct settings parse(int argc, char **argv)
{
    struct settings s = {.provider = "shm", .bytes = 8, .chunk = 1 << 20, .iterations = 10000, .warmup = 1000,
                         .batch = 100, .window = 16, .cores = {-1, -1}, .timeout_s = 120};
    static const struct option options[] = {
        {"provider", 1, 0, 'p'}, {"op", 1, 0, 'o'},       {"size", 1, 0, 's'},       {"iterations", 1, 0, 'n'},
        {"warmup", 1, 0, 'w'},   {"batch", 1, 0, 'b'},    {"chunk", 1, 0, 'c'},      {"window", 1, 0, 'W'},
        {"cores", 1, 0, 'C'},    {"timeout", 1, 0, 't'},  {"huge-pages", 0, 0, 'H'}, {"delivery-complete", 0, 0, 'd'},
        {0}};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'p': s.provider = optarg; break;
        case 'o': s.operation = operation_named(optarg); break;
        case 's': s.bytes = strtoull(optarg, NULL, 10); break;
        case 'n': s.iterations = strtoull(optarg, NULL, 10); break;
        case 'w': s.warmup = strtoull(optarg, NULL, 10); break;
        case 'b': s.batch = strtoull(optarg, NULL, 10); break;
        case 'c': s.chunk = strtoull(optarg, NULL, 10); break;
        case 'W': s.window = strtoull(optarg, NULL, 10); break;
        case 't': s.timeout_s = (unsigned)strtoul(optarg, NULL, 10); break;
        case 'C':
            if (sscanf(optarg, "%d,%d", &s.cores[0], &s.cores[1]) != 2) usage();
            break;
        case 'H': s.huge_pages = true; break;
        case 'd': s.delivery_complete = true; break;
        default: usage();
        }
    }
    if (s.iterations == 0 || s.batch == 0 || s.chunk == 0 || s.window == 0 || optind != argc) usage();
    if (s.operation == writebw) s.delivery_complete = true;
    return s;
}

int main(int argc, char **argv)
{
    struct settings settings = parse(argc, argv);
    return run_pair(be_rank, &settings);
}
