/*
 * Both directions at once in plain C: in every iteration each of two ranks writes SIZE bytes to the other in chunks, at
 * most WINDOW in flight, each with data and delivery complete, and is done when its own have been delivered and all of
 * the other's have arrived. The clock is rank 0's, read once per iteration. Prints one line of JSON.
 */
#define _GNU_SOURCE
#include "fabric-pair.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct settings {
    const char *provider;
    size_t bytes, chunk;
    uint64_t iterations, warmup, window;
    int cores[2]; /* -1: not pinned */
    bool huge_pages;
    unsigned timeout_s;
};

/* `done`: iterations before this one. Arrivals are counted from the start: the other rank may be one ahead. */
static void iterate(struct side *side, const struct settings *s, uint64_t done)
{
    uint64_t chunks = (s->bytes + s->chunk - 1) / s->chunk, before = side->sent;
    for (uint64_t c = 0; c < chunks; c++) {
        size_t offset = c * s->chunk;
        size_t bytes = s->bytes - offset < s->chunk ? s->bytes - offset : s->chunk;
        while (c - (side->sent - before) >= s->window) side_poll(side);
        side_write(side, offset, bytes, c, FI_DELIVERY_COMPLETE);
    }
    while (side->sent < before + chunks || side->received < (done + 1) * chunks) side_poll(side);
}

static void be_rank(int rank, int socket, const void *settings)
{
    const struct settings *s = settings;
    struct side side = {.rank = rank, .socket = socket};
    struct side_options options = {.provider = s->provider, .bytes = s->bytes, .huge_pages = s->huge_pages,
                                   .caps = FI_MSG | FI_RMA, .op_flags = FI_DELIVERY_COMPLETE};
    alarm(s->timeout_s);
    side_open_domain(&side, &options);
    side_open_endpoint(&side, &options);
    /* After opening: a provider's own threads are not to share the core with this loop. */
    if (s->cores[rank] >= 0) pin_to_core(s->cores[rank]);
    memset(side.out, rank + 1, s->bytes);
    side_connect(&side);
    double *samples = calloc(s->iterations, sizeof *samples);
    if (samples == NULL) must(-FI_ENOMEM, "calloc");
    side_meet(&side, 1);
    for (uint64_t i = 0; i < s->warmup + s->iterations; i++) {
        uint64_t start = now_ns();
        iterate(&side, s, i);
        if (i >= s->warmup) samples[i - s->warmup] = (double)(now_ns() - start);
    }
    side_meet(&side, 1);
    side_check(&side, s->bytes);
    if (rank == 0) {
        printf("{\"program\":\"fabric-bidir\",\"provider\":\"%s\",\"bytes\":%zu,\"chunk\":%zu,\"window\":%lu,",
               side.info->fabric_attr->prov_name, s->bytes, s->chunk, s->window);
        print_samples(samples, s->iterations);
    }
    free(samples);
    /* Not left to the end of the process: shm's segment would stay in /dev/shm. */
    side_close_endpoint(&side);
    side_close_domain(&side);
}

static void usage(void)
{
    fputs("usage: fabric-bidir [--provider P] [--size BYTES] [--chunk BYTES] [--window N] [--iterations N]\n"
          "         [--warmup N] [--cores A,B] [--huge-pages] [--timeout SECONDS]\n",
          stderr);
    exit(2);
}

static struct settings parse(int argc, char **argv)
{
    struct settings s = {.provider = "shm", .bytes = 1 << 20, .chunk = 1 << 20, .iterations = 100, .warmup = 10,
                         .window = 16, .cores = {-1, -1}, .timeout_s = 120};
    static const struct option options[] = {
        {"provider", 1, 0, 'p'},   {"size", 1, 0, 's'},   {"chunk", 1, 0, 'c'}, {"window", 1, 0, 'W'},
        {"iterations", 1, 0, 'n'}, {"warmup", 1, 0, 'w'}, {"cores", 1, 0, 'C'}, {"huge-pages", 0, 0, 'H'},
        {"timeout", 1, 0, 't'},    {0}};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'p': s.provider = optarg; break;
        case 's': s.bytes = strtoull(optarg, NULL, 10); break;
        case 'c': s.chunk = strtoull(optarg, NULL, 10); break;
        case 'W': s.window = strtoull(optarg, NULL, 10); break;
        case 'n': s.iterations = strtoull(optarg, NULL, 10); break;
        case 'w': s.warmup = strtoull(optarg, NULL, 10); break;
        case 't': s.timeout_s = (unsigned)strtoul(optarg, NULL, 10); break;
        case 'C':
            if (sscanf(optarg, "%d,%d", &s.cores[0], &s.cores[1]) != 2) usage();
            break;
        case 'H': s.huge_pages = true; break;
        default: usage();
        }
    }
    if (s.bytes == 0 || s.chunk == 0 || s.iterations == 0 || s.window == 0 || optind != argc) usage();
    return s;
}

int main(int argc, char **argv)
{
    struct settings settings = parse(argc, argv);
    return run_pair(be_rank, &settings);
}
