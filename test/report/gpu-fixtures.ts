import type { Run } from '../../src/results/schema.js';
import { hosts, row, run, type Sample, sizes } from './fixtures.js';

/** GPU-initiated writes through a proxy: a `quiet` after each costs a fixed time. */
export const proxyRun = (): Run =>
  run(
    'proxy',
    ['Single', 'SingleBlocking', 'SingleNBI', 'Multi', 'MultiBlocking', 'MultiNBI'].flatMap(
      (column) =>
        sizes(8 * 2 ** 20, 6).map((bytes) => {
          const line = column.startsWith('Multi') ? 384 : 97;
          const extra = column.endsWith('Blocking') ? 250 : column.endsWith('NBI') ? 12 : 0;
          const base = (bytes * 8) / line / 1000;
          const stages = [
            ['push → pop', 1],
            ['post → delivered', base],
            ['delivered → seen', extra],
          ] as const;
          return row({
            column,
            bytes,
            us: base + extra,
            allowedGbps: column.startsWith('Multi') ? 400 : 100,
            labels: { memory: 'direct' },
            ...(extra > 0 && {
              labels: { memory: 'direct', producer: 'gpu' },
              lossPercent: 100 * (1 - base / (base + extra)),
              breakdown: {
                requests: 400,
                clockUncertaintyNanoseconds: 900,
                stages: stages.map(([name, us]) => ({ name, p50: us * 1000, p95: us * 1100 })),
              },
            }),
          });
        }),
    ),
  );

/** Kernels of several shapes that write to a neighbour's memory, and the copy engine. */
export const ipcRun = (): Run => {
  const ipcRow = (bytes: number, peak: number, change: Partial<Sample>) =>
    row({
      kind: 'ipc',
      column: 'Kernel',
      bytes,
      us: (bytes * 8) / peak / 1000 + 4,
      allowedGbps: 3600,
      peakGbps: 3600,
      ...change,
    });
  const shapes = [1, 4, 16, 64, 128].flatMap((grid) => [256, 1024].map((block) => [grid, block]));
  return run(
    'ipc',
    sizes(2 ** 20, 8).flatMap((bytes) => [
      ...shapes.map(([grid, block]) =>
        ipcRow(bytes, 23 * grid! * (block === 1024 ? 1.01 : 1), {
          labels: { producer: 'gpu', path: 'NVLink', grid: grid!, block: block! },
        }),
      ),
      ipcRow(bytes, 2100, { column: 'CopyEngine', labels: { path: 'NVLink' } }),
    ]),
    { world: { ranks: 2, hosts: hosts(1), launcher: 'local' } },
  );
};

/** Kernels of several shapes that push, and what one of them takes. */
export const queueRun = (): Run => {
  const queueRow = (column: string, ns: number, change: Partial<Sample>) =>
    row({ kind: 'queue', column, bytes: 16, us: ns / 1000, batch: 1, ...change });
  return run('queue', [
    ...['Push', 'PushReleased'].flatMap((column) =>
      [1, 8, 132].flatMap((grid) =>
        [1, 32].map((block) => {
          const labels = { producer: 'gpu', grid, block } as const;
          const ns = 280 / Math.min(64, grid * block) + grid / 10;
          return queueRow(column, ns, { labels, mops: 1000 / ns });
        }),
      ),
    ),
    queueRow('RoundTrip', 4000, { labels: { producer: 'gpu' } }),
  ]);
};
