import { readFileSync } from 'node:fs';
import {
  allToAllBytes,
  type FigureBytes,
  figuresOf,
  oneToEachBytes,
} from '../../src/measure/figures.js';
import { seededRandom } from '../../src/measure/seeded-random.js';
import { type MeasuredRow, measuredRow, outcomeOf, skippedRow } from '../../src/results/rows.js';
import type { Row, Run } from '../../src/results/schema.js';

const reference = new URL('../../comparisons/p5-reference.csv', import.meta.url);

export interface Sample extends Partial<Omit<MeasuredRow, 'samples'>> {
  readonly column: string;
  readonly bytes: number;
  readonly us: number;
  readonly allowedGbps?: number | undefined;
  readonly boundGbps?: number | undefined;
  readonly figure?: FigureBytes;
  /** Share of the mean over which the samples spread. */
  readonly spread?: number;
  readonly count?: number;
}

/** Samples around `us` with a tail to the right, as transfers have, and the figures that follow. */
export function row(sample: Sample): Row {
  const { us, allowedGbps, boundGbps, figure, spread = 0.04, count = 60, ...rest } = sample;
  const next = seededRandom(rest.bytes + rest.column.length * 7919 + Math.round(us * 100));
  const samples = Array.from({ length: count }, () => {
    const tail = next() > 0.93 ? 3 * spread : 0;
    return Math.round(us * 1000 * (1 + spread * (next() - 0.5) + tail * next()));
  });
  const bytes = figure ?? oneToEachBytes(rest.bytes);
  const meanNanoseconds = samples.reduce((sum, each) => sum + each, 0) / count;
  const boundNanoseconds = boundGbps && (bytes.line * 8) / boundGbps;
  return measuredRow({
    labels: { memory: 'pinned' },
    figures: figuresOf({ bytes, meanNanoseconds, allowedGbps, boundNanoseconds }),
    samples,
    checked: { bytes: 2 * rest.bytes, wrong: 0 },
    ...rest,
  });
}

export function run(benchmark: string, rows: Row[], changes: Partial<Run> = {}): Run {
  return {
    schema: 'weft.run/1',
    id: `20260102T030405000Z-${benchmark}-abc123`,
    benchmark,
    startedAt: '2026-01-02T03:04:05.000Z',
    endedAt: '2026-01-02T03:05:00.000Z',
    world: { ranks: 4, hosts: hosts(4), launcher: 'slurm' },
    fabric: {
      library: 'libfabric',
      version: '1.22',
      provider: 'efa',
      channels: [0, 1, 2, 3].map((i) => ({ nic: `rdmap${i}s0`, lineRateGbps: 100 })),
    },
    settings: { budgetMs: 500, warmup: 2, window: 64, chunkBytes: 1_048_576 },
    outcome: outcomeOf(rows),
    rows,
    errors: [],
    ...changes,
  };
}

export const hosts = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `node-${i + 1}`);

const lanes = (column: string): number => (/^(Multi|RoundRobin)/.test(column) ? 4 : 1);

/** The published tables, with samples around their latencies. */
export function referenceRun(benchmark: 'sendrecv' | 'write' | 'all2all'): Run {
  const lines = readFileSync(reference, 'utf8').trim().split('\n').slice(1);
  const rows = lines
    .map((line) => line.split(','))
    .filter(([name]) => name === benchmark)
    .map(([, nodes, column = '', size, , , , us]) => {
      const bytes = Number(size);
      const world = Number(nodes);
      const targets = column.startsWith('RoundRobin') ? world - 1 : 1;
      const figure =
        benchmark === 'all2all' ? allToAllBytes(bytes, world) : oneToEachBytes(bytes, targets);
      const full = 100 * lanes(column);
      return row({
        column,
        bytes,
        us: Number(us),
        figure,
        allowedGbps: full,
        boundGbps: targets === 3 ? 300 : benchmark === 'sendrecv' ? full / 2 : full,
        roundTrip: benchmark === 'sendrecv',
        ...(benchmark === 'all2all' && { perRank: ranksOf(Number(us), world) }),
      });
    });
  return run(benchmark, rows);
}

const ranksOf = (us: number, world: number) =>
  hosts(world).map((host, rank) => {
    const mean = us * 1000 * (1 - rank * 0.01);
    const nanoseconds = { min: mean, mean, p50: mean, p95: mean, p99: mean, max: mean };
    return { rank, host, nanoseconds: { ...nanoseconds, stddev: 0, ci95: null } };
  });

export const sizes = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => from * 2 ** i);

/** All-to-all on more and more hosts. */
export const nodeRuns = (): Run[] =>
  [2, 4, 8, 16].map((count) =>
    run(
      'all2all',
      ['SingleDMA', 'MultiDMA', 'SinglePin'].map((column) => {
        const bytes = 4 * 2 ** 20;
        const gbps = (lanes(column) * 95) / (count - 1);
        const us = (bytes * 8) / gbps / 1000;
        return row({
          column,
          bytes,
          us,
          figure: allToAllBytes(bytes, count),
          allowedGbps: lanes(column) * 100,
        });
      }),
      { world: { ranks: count, hosts: hosts(count), launcher: 'slurm' } },
    ),
  );

/** Round-robin against split with more and more independent buffers. */
export const bufferRuns = (): Run[] =>
  [1, 2, 4, 8].map((buffers) =>
    run(
      'write',
      ['SingleDMA', 'MultiDMA', 'RoundRobinDMA'].map((column) => {
        const bytes = 64 * 2 ** 20;
        const used = column === 'RoundRobinDMA' ? Math.min(4, buffers) : lanes(column);
        const us = (bytes * buffers * 8) / (used * 96) / 1000;
        return row({
          column,
          bytes,
          us,
          figure: oneToEachBytes(bytes, buffers),
          allowedGbps: lanes(column) * 100,
        });
      }),
      { settings: { buffers } },
    ),
  );

/** Every pair on every rail; one pair is slow and one could not be measured. */
export const pairsRun = (ranks = 8, rails: readonly string[] = ['']): Run =>
  run(
    'pairs',
    Array.from({ length: ranks }, (_, from) => from).flatMap((from) =>
      Array.from({ length: ranks }, (_, to) => to).flatMap((to) => {
        if (from === to) return [];
        return rails.map((rail) => {
          const labels = { memory: 'pinned' as const, from, to, ...(rail !== '' && { rail }) };
          const bytes = 4 * 2 ** 20;
          if (from === 5 && to === 1)
            return skippedRow({
              kind: 'pair',
              column: 'Bandwidth',
              bytes,
              reason: 'no route',
              labels,
            });
          const gbps = from === 2 && to === 6 ? 31 : 94 + ((from * 7 + to * 3) % 5);
          return row({
            kind: 'pair',
            column: 'Bandwidth',
            bytes,
            us: (bytes * 8) / gbps / 1000,
            labels,
            allowedGbps: 100,
            count: 20,
          });
        });
      }),
    ),
    { world: { ranks, hosts: hosts(ranks), launcher: 'slurm' } },
  );
