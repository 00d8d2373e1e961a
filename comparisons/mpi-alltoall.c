/*
 * MPI_Alltoall of BYTES per peer, the exchange that Weft's all2all is compared with. With --without-self no rank sends
 * to itself (MPI_Alltoallv with a count of 0 there). Every iteration starts from a barrier; a sample is the time of
 * the slowest rank, each on its own clock. Rank 0 prints one line of JSON.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

struct exchange {
    int rank, ranks, bytes;
    bool with_self;
    char *out, *in;
    int *counts, *offsets;
};

static void *allocate(size_t bytes)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 2u << 20, bytes) != 0) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    memset(memory, 0, bytes);
    return memory;
}

static void prepare(struct exchange *e)
{
    e->out = allocate((size_t)e->bytes * e->ranks);
    e->in = allocate((size_t)e->bytes * e->ranks);
    e->counts = allocate(sizeof(int) * e->ranks);
    e->offsets = allocate(sizeof(int) * e->ranks);
    for (int peer = 0; peer < e->ranks; peer++) {
        e->counts[peer] = peer == e->rank ? 0 : e->bytes;
        e->offsets[peer] = peer * e->bytes;
        memset(e->out + (size_t)peer * e->bytes, 1 + (e->rank * 31 + peer) % 120, e->bytes);
    }
}

static void run_once(const struct exchange *e)
{
    if (e->with_self) {
        MPI_Alltoall(e->out, e->bytes, MPI_CHAR, e->in, e->bytes, MPI_CHAR, MPI_COMM_WORLD);
    } else {
        MPI_Alltoallv(e->out, e->counts, e->offsets, MPI_CHAR, e->in, e->counts, e->offsets, MPI_CHAR, MPI_COMM_WORLD);
    }
}

static void check(const struct exchange *e)
{
    for (int peer = 0; peer < e->ranks; peer++) {
        if (peer == e->rank && !e->with_self) continue;
        char expected = (char)(1 + (peer * 31 + e->rank) % 120);
        for (int i = 0; i < e->bytes; i++) {
            if (e->in[(size_t)peer * e->bytes + i] == expected) continue;
            fprintf(stderr, "rank %d: byte %d from rank %d is wrong\n", e->rank, i, peer);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_result(const struct exchange *e, double *samples, int count)
{
    double sum = 0;
    printf("{\"program\":\"mpi-alltoall\",\"ranks\":%d,\"bytes\":%d,\"withSelf\":%s,\"iterations\":%d,\"samples\":[",
           e->ranks, e->bytes, e->with_self ? "true" : "false", count);
    for (int i = 0; i < count; i++) {
        printf("%s%.0f", i ? "," : "", samples[i]);
        sum += samples[i];
    }
    qsort(samples, count, sizeof *samples, ascending);
    printf("],\"nanoseconds\":{\"min\":%.0f,\"p25\":%.0f,\"median\":%.0f,\"mean\":%.0f}}\n", samples[0],
           samples[count / 4], samples[count / 2], sum / count);
}

static void measure(const struct exchange *e, int warmup, int iterations)
{
    double *mine = allocate(sizeof(double) * iterations), *slowest = allocate(sizeof(double) * iterations);
    for (int i = -warmup; i < iterations; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        run_once(e);
        if (i >= 0) mine[i] = (MPI_Wtime() - start) * 1e9;
    }
    check(e);
    MPI_Reduce(mine, slowest, iterations, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (e->rank == 0) print_result(e, slowest, iterations);
    free(mine);
    free(slowest);
}

int main(int argc, char **argv)
{
    struct exchange e = {.bytes = 4 << 20, .with_self = true};
    int iterations = 100, warmup = 10;
    static const struct option options[] = {{"bytes", 1, 0, 'b'},  {"iterations", 1, 0, 'n'},
                                            {"warmup", 1, 0, 'w'}, {"without-self", 0, 0, 'x'},
                                            {0}};
    MPI_Init(&argc, &argv);
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'b': e.bytes = atoi(optarg); break;
        case 'n': iterations = atoi(optarg); break;
        case 'w': warmup = atoi(optarg); break;
        case 'x': e.with_self = false; break;
        default: MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &e.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &e.ranks);
    if (e.bytes <= 0 || iterations <= 0 || (long)e.bytes * e.ranks > 0x7fffffffL) MPI_Abort(MPI_COMM_WORLD, 2);
    prepare(&e);
    measure(&e, warmup, iterations);
    MPI_Finalize();
    return 0;
}
