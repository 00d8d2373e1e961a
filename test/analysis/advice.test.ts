import { describe, expect, test } from 'vitest';
import { byValue, type Change } from '../../src/analysis/advice/change.js';
import { conditionsOf } from '../../src/analysis/advice/conditions.js';
import {
  incomparable,
  measuredSettings,
  measuredStrategies,
} from '../../src/analysis/advice/measured.js';
import type { Finding } from '../../src/results/finding.js';
import type { Row, Run } from '../../src/results/schema.js';
import { runOf, sampleRow, writeRun } from '../results/fixtures.js';

const M = 2 ** 20;
const column = (name: string, us: number, more: Partial<Row> = {}): Row => ({
  ...sampleRow({ column: name, bytes: 4 * M, us }),
  ...more,
});

describe('strategies measured side by side', () => {
  test('the fastest replaces the simplest, with the measured ratio', () => {
    const [change, ...more] = measuredStrategies(writeRun(), undefined);
    expect(more).toEqual([]);
    expect(change).toMatchObject({ from: 'SinglePin', to: 'MultiPin', known: 'measured' });
    expect(change!.bytes).toEqual([262_144, 4_194_304]);
    expect(change!.gain!.factor).toBeCloseTo((66.54 / 64.11 + 389.09 / 145.17) / 2, 3);
    expect(change!.gain!.interval[0]).toBeCloseTo(66.54 / 64.11, 2);
  });

  test('columns that move more data in an iteration are an open question', () => {
    // Round-robin writes to three peers at once here, the others to one at a time.
    expect(incomparable(writeRun(), undefined)).toMatchObject([
      { what: 'strategy', measure: { benchmark: 'write', options: { buffers: 3 } } },
    ]);
  });

  test('the column in use is the one asked for, and the best has nothing to change', () => {
    const run = runOf([column('SinglePin', 400), column('MultiPin', 100), column('MultiDMA', 90)]);
    expect(measuredStrategies(run, 'MultiPin')).toEqual([]);
    expect(measuredStrategies(run, undefined)).toMatchObject([
      { from: 'SinglePin', to: 'MultiPin', gain: { factor: 4 } },
    ]);
  });

  test('rows that are noisy, or apart by less than 3 %, change nothing', () => {
    const noisy = [column('SinglePin', 400), column('MultiPin', 100, { noisy: true })];
    expect(measuredStrategies(runOf(noisy), undefined)).toEqual([]);
    expect(conditionsOf(runOf(noisy)).open).toMatchObject([{ what: 'noise' }]);
    const close = [column('SinglePin', 102), column('MultiPin', 100)];
    expect(measuredStrategies(runOf(close), undefined)).toEqual([]);
  });
});

describe('runs that differ in one setting', () => {
  const withChunk = (id: string, chunkBytes: number, us: number, window = 16): Run =>
    runOf([column('MultiPin', us)], { id, settings: { chunkBytes, window } });

  test('the faster setting is advised, whichever run came first', () => {
    for (const runs of [
      [withChunk('slow', 65_536, 200), withChunk('fast', M, 100)],
      [withChunk('fast', M, 100), withChunk('slow', 65_536, 200)],
    ]) {
      expect(measuredSettings(runs)).toMatchObject([
        {
          ...{ what: 'chunk', from: '64K', to: '1M', known: 'measured' },
          gain: { factor: 2 },
          options: { from: { chunkBytes: 65_536 }, to: { chunkBytes: M } },
        },
      ]);
    }
  });

  test('two differences at once say nothing about either', () => {
    expect(measuredSettings([withChunk('a', 65_536, 200), withChunk('b', M, 100, 4)])).toEqual([]);
  });
});

describe('what a run shows of links, ranks and memory', () => {
  test('a slow NIC that a diagnosis found', () => {
    const finding: Finding = {
      ...{ cause: 'nic', who: { host: 'b', nic: 'eth1', direction: 'both' }, symptom: 'slow' },
      ...{ effect: 0.5, confidence: 0.99, evidence: 'It is slow with all peers.' },
      next: 'Look at its cable.',
    };
    const diagnosis = {
      retested: true,
      findings: [finding],
      notConfirmed: [],
      pace: [],
      retests: [],
    };
    expect(conditionsOf(runOf([], { diagnosis })).changes).toMatchObject([
      { what: 'network', from: 'NIC eth1 of b slow', gain: { factor: 2 } },
    ]);
  });

  test('a rank that is last in every row, though it has no more to move', () => {
    const times = (slow: number) =>
      [100, 101, slow, 99].map((us, rank) => ({
        ...{ rank, host: `h${rank}`, nanoseconds: column('MultiPin', us).nanoseconds },
      }));
    const found = (slow: number) =>
      conditionsOf(runOf([column('MultiPin', slow, { perRank: times(slow) })])).changes;
    expect(found(150)).toMatchObject([{ what: 'placement', from: 'rank 2 on h2 slow' }]);
    expect(found(150)[0]!.gain!.factor).toBeCloseTo(1.5);
    expect(found(104)).toEqual([]);
  });

  test('GPU memory that was staged, against host memory in the same run', () => {
    const labels = { memory: 'staged', stagedBecause: 'tcp has no access to GPUs' } as const;
    const rows = [column('MultiPin', 100), column('MultiDMA', 150, { labels })];
    const [change] = conditionsOf(runOf(rows)).changes;
    expect(change).toMatchObject({ what: 'memory', known: 'measured' });
    expect(change!.gain!.factor).toBeCloseTo(1.5);
    expect(change!.reason).toContain('tcp has no access to GPUs');
  });

  test('traffic on other NICs, NICs left out and ranks that are not pinned are open questions', () => {
    const path = { nics: [], asPlanned: false, text: 'eth0 on a carried nothing' };
    const settings = { pin: 'none', nicsLeftOut: ['efa1 on h1: cannot be opened'] };
    const { open } = conditionsOf(runOf([column('MultiPin', 100, { path })], { settings }));
    expect(open.map(({ what }) => what)).toEqual(['network', 'channels', 'placement']);
    expect(open[2]!.measure).toEqual({ benchmark: 'write', options: { pin: 'auto' } });
  });
});

test('a gain at all sizes is worth more than a larger one at few', () => {
  const run = runOf(
    [1, 2, 4, 8].map((size) => sampleRow({ column: 'MultiPin', bytes: size * M, us: 9 })),
  );
  const change = (factor: number, bytes: number[]): Change => ({
    ...{ run, what: 'chunk', from: '1M', to: '4M', bytes, known: 'predicted', reason: '' },
    gain: { factor, interval: [1, factor] },
  });
  const everywhere = change(1.5, [M, 2 * M, 4 * M, 8 * M]);
  const once = change(2, [M]);
  expect(byValue([once, everywhere])).toEqual([everywhere, once]);
});
