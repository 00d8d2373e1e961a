/*
 * Opens and closes an endpoint with its queue, address vector and region N times in one domain, or everything down
 * to the fabric with --whole, and reports resident memory and open descriptors on the way: what the leak test of
 * the awaitable API is compared with. Prints one line of JSON.
 */
#define _GNU_SOURCE
#include "fabric-pair.h"

#include <dirent.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1) must(-FI_EIO, "/proc/self/statm");
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int open_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) must(-FI_EIO, "/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.') count++;
    closedir(folder);
    return count - 1; /* the folder itself */
}

static void report(long cycle, const char *before)
{
    printf("%s{\"cycle\":%ld,\"residentKiB\":%ld,\"descriptors\":%d}", before, cycle, resident_kib(),
           open_descriptors());
}

int main(int argc, char **argv)
{
    struct side_options wanted = {.provider = "shm", .caps = FI_MSG | FI_RMA, .bytes = 65536};
    long cycles = 10000, every = 500;
    bool whole = false;
    static const struct option options[] = {{"provider", 1, 0, 'p'}, {"cycles", 1, 0, 'n'}, {"every", 1, 0, 'e'},
                                            {"size", 1, 0, 's'},     {"whole", 0, 0, 'w'},  {0}};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'p': wanted.provider = optarg; break;
        case 'n': cycles = strtol(optarg, NULL, 10); break;
        case 'e': every = strtol(optarg, NULL, 10); break;
        case 's': wanted.bytes = strtoull(optarg, NULL, 10); break;
        case 'w': whole = true; break;
        default: return 2;
        }
    }
    if (cycles <= 0 || every <= 0) return 2;
    struct side side = {0};
    side_open_domain(&side, &wanted);
    printf("{\"program\":\"open-close-loop\",\"provider\":\"%s\",\"cycles\":%ld,\"points\":[", wanted.provider, cycles);
    report(0, "");
    for (long cycle = 1; cycle <= cycles; cycle++) {
        if (whole) {
            side_close_domain(&side);
            side_open_domain(&side, &wanted);
        }
        side_open_endpoint(&side, &wanted);
        side_close_endpoint(&side);
        if (cycle % every == 0) report(cycle, ",");
    }
    puts("]}");
    side_close_domain(&side);
    return 0;
}
