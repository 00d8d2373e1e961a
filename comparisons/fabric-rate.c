/*
 * Messages per second in plain C: rank 0 keeps at most WINDOW messages of SIZE bytes in flight to rank 1 on each
 * channel, which is an endpoint of its own.
 *
 * write  writes that carry data for the peer's completion queue, each with delivery complete.
 * send   sends into receives that rank 1 posts again as they fill.
 *
 * A sample is the time of MESSAGES messages, from the first post until rank 0 knows that all have arrived: by their
 * completions, and with sends by rank 1's answer to the last. Prints one line of JSON.
 */
#define _GNU_SOURCE
#include "fabric-pair.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_channels = 64 };

struct settings {
    const char *provider;
    bool sends;
    size_t bytes;
    uint64_t messages, samples, warmup, window;
    int channels;
    int cores[2]; /* -1: not pinned */
    bool huge_pages;
    unsigned timeout_s;
};

struct rank {
    const struct settings *s;
    struct side sides[most_channels];
    uint64_t receives[most_channels]; /* posted since the start */
};

static uint64_t all_sent(const struct rank *rank)
{
    uint64_t sum = 0;
    for (int c = 0; c < rank->s->channels; c++) sum += rank->sides[c].sent;
    return sum;
}

static uint64_t all_received(const struct rank *rank)
{
    uint64_t sum = 0;
    for (int c = 0; c < rank->s->channels; c++) sum += rank->sides[c].received;
    return sum;
}

/* The core is yielded only when no channel has had anything for a while. */
static void poll_all(struct rank *rank)
{
    unsigned quiet = rank->sides[0].empty_polls;
    for (int c = 0; c < rank->s->channels; c++) {
        struct side *side = &rank->sides[c];
        /* Only the last looks long enough to yield. */
        side->empty_polls = c + 1 < rank->s->channels ? 0 : quiet;
        side_poll(side);
        if (side->empty_polls == 0) quiet = 0;
    }
    rank->sides[0].empty_polls = rank->sides[rank->s->channels - 1].empty_polls;
}

static void post_receives(struct rank *rank, uint64_t window)
{
    for (int c = 0; c < rank->s->channels; c++) {
        struct side *side = &rank->sides[c];
        for (; rank->receives[c] - side->received < window; rank->receives[c]++)
            POST(side, fi_recv(side->ep, side->in, rank->s->bytes, side->desc, side->peer, NULL));
    }
}

/* Messages lie one behind the other, and channels have equal shares of them. */
static uint64_t share_of(const struct settings *s, int channel)
{
    return s->messages / (uint64_t)s->channels + ((uint64_t)channel < s->messages % (uint64_t)s->channels);
}

static void post_message(struct side *side, const struct settings *s, uint64_t index)
{
    size_t offset = index * s->bytes;
    if (s->sends) POST(side, fi_send(side->ep, side->out + offset, s->bytes, side->desc, side->peer, NULL));
    else side_write(side, offset, s->bytes, 1, FI_DELIVERY_COMPLETE);
}

/* Channels take turns; one whose window is full is passed over until a completion makes room. */
static void send_messages(struct rank *rank)
{
    const struct settings *s = rank->s;
    uint64_t before[most_channels], posted[most_channels] = {0}, target = all_sent(rank) + s->messages;
    for (int c = 0; c < s->channels; c++) before[c] = rank->sides[c].sent;
    for (uint64_t left = s->messages; left > 0;) {
        bool full = true;
        for (int c = 0; c < s->channels; c++) {
            struct side *side = &rank->sides[c];
            if (posted[c] == share_of(s, c) || posted[c] - (side->sent - before[c]) >= s->window) continue;
            post_message(side, s, posted[c]++);
            left--;
            full = false;
        }
        if (full) poll_all(rank);
    }
    while (all_sent(rank) < target) poll_all(rank);
}

/* `done`: samples before this one. Arrivals are counted from the start: the next may come before we look for them. */
static void one_sample(struct rank *rank, uint64_t done)
{
    const struct settings *s = rank->s;
    struct side *first = &rank->sides[0];
    uint64_t arrived = (done + 1) * (first->rank == 1 ? s->messages : 1);
    if (first->rank == 0) {
        if (s->sends) post_receives(rank, 1);
        send_messages(rank);
        while (s->sends && all_received(rank) < arrived) poll_all(rank);
        return;
    }
    while (all_received(rank) < arrived) {
        poll_all(rank);
        if (s->sends) post_receives(rank, s->window);
    }
    if (s->sends) POST(first, fi_inject(first->ep, first->out, 1, first->peer));
}

static size_t run(struct rank *rank, double *samples)
{
    const struct settings *s = rank->s;
    if (s->sends && rank->sides[0].rank == 1) post_receives(rank, s->window);
    side_meet(rank->sides, s->channels);
    for (uint64_t i = 0; i < s->warmup + s->samples; i++) {
        uint64_t start = now_ns();
        one_sample(rank, i);
        if (i >= s->warmup) samples[i - s->warmup] = (double)(now_ns() - start);
    }
    side_meet(rank->sides, s->channels);
    return s->samples;
}

static void print_result(const struct rank *rank, double *samples, size_t count)
{
    const struct settings *s = rank->s;
    printf("{\"program\":\"fabric-rate\",\"provider\":\"%s\",\"op\":\"%s\",\"bytes\":%zu,\"messages\":%lu,"
           "\"window\":%lu,\"channels\":%d,",
           rank->sides[0].info->fabric_attr->prov_name, s->sends ? "send" : "write", s->bytes, s->messages, s->window,
           s->channels);
    print_samples(samples, count);
}

static void be_rank(int number, int socket, const void *settings)
{
    static struct rank rank;
    const struct settings *s = rank.s = settings;
    size_t bytes = share_of(s, 0) * s->bytes;
    struct side_options options = {.provider = s->provider, .bytes = bytes, .huge_pages = s->huge_pages};
    options.caps = s->sends ? FI_MSG : FI_MSG | FI_RMA;
    if (!s->sends) options.op_flags = FI_DELIVERY_COMPLETE;
    alarm(s->timeout_s);
    for (int c = 0; c < s->channels; c++) {
        struct side *side = &rank.sides[c];
        side->rank = number;
        side->socket = socket;
        side_open_domain(side, &options);
        side_open_endpoint(side, &options);
        memset(side->out, number + 1, bytes);
    }
    /* After opening: a provider's own threads are not to share the core with this loop. */
    if (s->cores[number] >= 0) pin_to_core(s->cores[number]);
    for (int c = 0; c < s->channels; c++) side_connect(&rank.sides[c]);
    double *samples = calloc(s->samples, sizeof *samples);
    if (samples == NULL) must(-FI_ENOMEM, "calloc");
    size_t count = run(&rank, samples);
    if (number == 0) print_result(&rank, samples, count);
    for (int c = 0; c < s->channels; c++) {
        if (number == 1) side_check(&rank.sides[c], s->sends ? s->bytes : share_of(s, c) * s->bytes);
        /* Not left to the end of the process: shm's segment would stay in /dev/shm. */
        side_close_endpoint(&rank.sides[c]);
        side_close_domain(&rank.sides[c]);
    }
    free(samples);
}

static void usage(void)
{
    fputs("usage: fabric-rate [--provider P] [--op write|send] [--size BYTES] [--window N] [--channels N]\n"
          "         [--messages N] [--samples N] [--warmup N] [--cores A,B] [--huge-pages] [--timeout SECONDS]\n",
          stderr);
    exit(2);
}

static struct settings parse(int argc, char **argv)
{
    struct settings s = {.provider = "shm", .bytes = 8, .messages = 10000, .samples = 20, .warmup = 2, .window = 64,
                         .channels = 1, .cores = {-1, -1}, .timeout_s = 120};
    static const struct option options[] = {
        {"provider", 1, 0, 'p'}, {"op", 1, 0, 'o'},      {"size", 1, 0, 's'},   {"window", 1, 0, 'W'},
        {"channels", 1, 0, 'c'}, {"messages", 1, 0, 'm'}, {"samples", 1, 0, 'n'}, {"warmup", 1, 0, 'w'},
        {"cores", 1, 0, 'C'},    {"timeout", 1, 0, 't'}, {"huge-pages", 0, 0, 'H'}, {0}};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'p': s.provider = optarg; break;
        case 'o':
            s.sends = strcmp(optarg, "send") == 0;
            if (!s.sends && strcmp(optarg, "write") != 0) usage();
            break;
        case 's': s.bytes = strtoull(optarg, NULL, 10); break;
        case 'W': s.window = strtoull(optarg, NULL, 10); break;
        case 'c': s.channels = (int)strtoul(optarg, NULL, 10); break;
        case 'm': s.messages = strtoull(optarg, NULL, 10); break;
        case 'n': s.samples = strtoull(optarg, NULL, 10); break;
        case 'w': s.warmup = strtoull(optarg, NULL, 10); break;
        case 't': s.timeout_s = (unsigned)strtoul(optarg, NULL, 10); break;
        case 'C':
            if (sscanf(optarg, "%d,%d", &s.cores[0], &s.cores[1]) != 2) usage();
            break;
        case 'H': s.huge_pages = true; break;
        default: usage();
        }
    }
    bool channels = s.channels > 0 && s.channels <= most_channels && (uint64_t)s.channels <= s.messages;
    if (!channels || s.bytes == 0 || s.samples == 0 || s.window == 0 || optind != argc) usage();
    return s;
}

int main(int argc, char **argv)
{
    struct settings settings = parse(argc, argv);
    return run_pair(be_rank, &settings);
}
