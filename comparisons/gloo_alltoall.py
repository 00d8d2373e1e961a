"""All-to-all over gloo through PyTorch: what Weft's all2all is compared with.

Run under torchrun or with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set; or alone with --ranks N, which starts
the ranks on this machine. Every iteration starts from a barrier; a sample is the time of the slowest rank, each on
its own clock. gloo has all_to_all_single; with --without-self the block a rank keeps has length 0. Rank 0 prints one
line of JSON. Use the distribution's python3, for which PyTorch is packaged.
"""

import argparse
import json
import os
import socket
import time

import torch
import torch.distributed as dist


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", type=int, default=4 << 20, help="per peer")
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--without-self", action="store_true")
    parser.add_argument("--ranks", type=int, help="start this many ranks here")
    return parser.parse_args()


def pattern(source, target):
    return 1 + (source * 31 + target) % 120


def buffers(rank, ranks, options):
    lengths = [0 if options.without_self and peer == rank else options.bytes for peer in range(ranks)]
    out = torch.cat([torch.full((n,), pattern(rank, p), dtype=torch.uint8) for p, n in enumerate(lengths)])
    return lengths, out, torch.zeros_like(out)


def check(rank, lengths, received):
    for source, block in enumerate(received.split(lengths)):
        if not bool((block == pattern(source, rank)).all()):
            raise SystemExit(f"rank {rank}: wrong data from rank {source}")


def measure(rank, ranks, options):
    lengths, out, received = buffers(rank, ranks, options)
    mine = []
    for i in range(options.warmup + options.iterations):
        dist.barrier()
        start = time.monotonic_ns()
        dist.all_to_all_single(received, out, lengths, lengths)
        if i >= options.warmup:
            mine.append(time.monotonic_ns() - start)
    check(rank, lengths, received)
    slowest = torch.tensor(mine, dtype=torch.int64)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    return slowest.tolist()


def report(ranks, options, samples):
    ordered = sorted(samples)
    print(
        json.dumps(
            {
                "program": "gloo_alltoall",
                "torch": torch.__version__,
                "ranks": ranks,
                "bytes": options.bytes,
                "withSelf": not options.without_self,
                "iterations": options.iterations,
                "samples": samples,
                "nanoseconds": {
                    "min": ordered[0],
                    "p25": ordered[len(ordered) // 4],
                    "median": ordered[len(ordered) // 2],
                    "mean": round(sum(ordered) / len(ordered)),
                },
            }
        )
    )


def be_rank(rank, ranks, options, port=None):
    if port is not None:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    samples = measure(rank, ranks, options)
    if rank == 0:
        report(ranks, options, samples)
    dist.barrier()
    dist.destroy_process_group()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    options = parse()
    if options.ranks is None:
        be_rank(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), options)
    else:
        arguments = (options.ranks, options, free_port())
        torch.multiprocessing.spawn(be_rank, args=arguments, nprocs=options.ranks)
