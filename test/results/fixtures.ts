import {
  allToAllBytes,
  type FigureBytes,
  figuresOf,
  oneToEachBytes,
} from '../../src/measure/figures.js';
import { type MeasuredRow, measuredRow, outcomeOf, skippedRow } from '../../src/results/rows.js';
import type { Row, Run, RunHeader } from '../../src/results/schema.js';

export const header: RunHeader = {
  schema: 'weft.run/1',
  id: '20260102T030405Z-write-abc123',
  benchmark: 'write',
  startedAt: '2026-01-02T03:04:05.000Z',
  world: { ranks: 4, hosts: ['a', 'b', 'c', 'd'], launcher: 'local' },
  fabric: {
    library: 'libfabric',
    version: '1.17.0',
    provider: 'tcp',
    channels: [0, 1, 2, 3].map((i) => ({ nic: `eth${i}`, lineRateGbps: 100 })),
  },
  settings: { pattern: 'oneToEach', minBytes: 262_144 },
};

interface Sample extends Partial<MeasuredRow> {
  readonly column: string;
  readonly bytes: number;
  readonly us: number;
  readonly allowedGbps?: number | undefined;
  readonly boundNanoseconds?: number;
  readonly figure?: FigureBytes;
}

/** Three steady samples around `us`, with the figures that follow. */
export function sampleRow({ us, allowedGbps, boundNanoseconds, figure, ...row }: Sample): Row {
  const mean = Math.round(us * 1000);
  const bytes = figure ?? oneToEachBytes(row.bytes);
  const figures = figuresOf({ bytes, meanNanoseconds: mean, allowedGbps, boundNanoseconds });
  const checked = { bytes: 2 * row.bytes, wrong: 0 };
  const labels = { memory: 'pinned' } as const;
  return measuredRow({ labels, figures, samples: [mean - 10, mean, mean + 10], checked, ...row });
}

export function runOf(rows: Row[], changes: Partial<Run> = {}): Run {
  const endedAt = '2026-01-02T03:05:00.000Z';
  return { ...header, endedAt, outcome: outcomeOf(rows), rows, errors: [], ...changes };
}

const sizes = [262_144, 4_194_304];

/** The published figures of the reference, as far as they go. */
export const writeRun = (): Run =>
  runOf([
    ...sizes.map((bytes, i) =>
      sampleRow({ column: 'SinglePin', bytes, us: [66.54, 389.09][i]!, allowedGbps: 100 }),
    ),
    ...sizes.map((bytes, i) =>
      sampleRow({ column: 'MultiPin', bytes, us: [64.11, 145.17][i]!, allowedGbps: 400 }),
    ),
    ...sizes.map((bytes, i) =>
      sampleRow({
        column: 'RoundRobinPin',
        bytes,
        us: [69.49, 398.44][i]!,
        allowedGbps: 400,
        figure: oneToEachBytes(bytes, 3),
      }),
    ),
    ...['SingleDMA', 'MultiDMA'].map((column) => skippedRow({ column, reason: 'no GPU here' })),
  ]);

export const allToAllRun = (allowedGbps: number | undefined = 100): Run => {
  const bytes = 4_194_304;
  const row = sampleRow({
    column: 'SinglePin',
    bytes,
    us: 2677.27,
    allowedGbps,
    figure: allToAllBytes(bytes, 4),
  });
  return runOf([row], { benchmark: 'all2all', settings: { pattern: 'allToAll' } });
};
