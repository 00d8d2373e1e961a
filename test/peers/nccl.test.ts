import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostBuffer } from '../../src/memory/buffer.js';
import { addon } from '../../src/native/addon.js';
import type { NativePeer } from '../../src/native/peer.js';
import { requireNccl } from '../../src/peers/nccl.js';
import { nativeOf } from '../../src/peers/open-peer.js';
import { Unavailable } from '../../src/peers/peer.js';
import { allToAllV, type Collective } from '../../src/plan/collective.js';
import { sumDtypes } from '../../src/plan/plan.js';
import { buildStandIn } from '../gpu/stand-in.js';

/** NCCL itself where there is a GPU, else its stand-in: a process opens one driver. */
const onGpu = existsSync('/dev/nvidiactl');

describe(onGpu ? 'NCCL on a GPU' : 'NCCL’s stand-in', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-nccl-'));
  const bytes = 4096;
  const [source, target] = [new HostBuffer(bytes), new HostBuffer(bytes)];
  let peer: NativePeer | undefined;
  let reason: string | undefined;

  beforeAll(async () => {
    if (!onGpu) {
      process.env.WEFT_LIBCUDA = buildStandIn();
      process.env.WEFT_NCCL = join(folder, 'nccl.so');
      const code = fileURLToPath(new URL('../all-to-all-single/stand-in/nccl.cc', import.meta.url));
      execFileSync('g++', ['-O1', '-shared', '-fPIC', '-o', process.env.WEFT_NCCL, code]);
    }
    try {
      requireNccl();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      reason = error.message;
      return;
    }
    peer = new (addon().Peer)(process.env.WEFT_NCCL ?? 'libnccl.so.2', 'nccl');
    const sizes = { sourceBytes: bytes, targetBytes: bytes };
    const setup = { rank: 0, size: 1, gpu: 0, networkInterface: '', timeoutMs: 30_000 };
    const address = await peer.open({ ...setup, ...sizes });
    await peer.connect([address]);
  });
  afterAll(async () => {
    await peer?.close();
    rmSync(folder, { recursive: true });
  });

  const kinds = ['allreduce', 'allgather', 'reduce-scatter'] as const;
  const collectives: Collective[] = [
    ...kinds.flatMap((kind) => sumDtypes.map((dtype) => ({ kind, bytes, dtype }))),
    allToAllV(1, () => bytes),
  ];

  test.for(collectives)('one rank gets its own: $kind $dtype', async (one, { skip }) => {
    skip(reason !== undefined, reason);
    // 64.25 and 3.39 as halves, 50.26 as a float: no NaN, whose bits a sum need not keep.
    source.view().fill(0x42);
    target.view().fill(0xff);
    const times = await peer!.run(source.native, target.native, nativeOf(one, 0), 6, 2);
    expect(times).toHaveLength(3);
    expect(Math.min(...times)).toBeGreaterThan(0);
    expect(target.view().every((byte) => byte === 0x42)).toBe(true);
  });

  test('a root that broadcasts keeps its output', async ({ skip }) => {
    skip(reason !== undefined, reason);
    target.view().fill(0xff);
    const one = { kind: 'broadcast', bytes, dtype: 'bfloat16' } as const;
    await peer!.run(source.native, target.native, nativeOf(one, 0), 1, 1);
    expect(target.view().every((byte) => byte === 0xff)).toBe(true);
  });
});
