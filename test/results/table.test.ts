import { describe, expect, test } from 'vitest';
import { formatTable } from '../../src/results/formats/table.js';
import { skippedRow } from '../../src/results/rows.js';
import { allToAllRun, runOf, sampleRow, writeRun } from './fixtures.js';

const columns = (count: number) =>
  runOf(
    Array.from({ length: count }, (_, i) =>
      sampleRow({ column: `Column${i}`, bytes: 2 ** 30, us: 123_456.78, allowedGbps: 400 }),
    ),
  );

describe('the table', () => {
  test('has the reference’s layout', () => {
    expect(formatTable(writeRun(), { width: 120 })).toBe(
      `write · tcp (libfabric 1.17.0) · 4 ranks on 4 hosts · 4 channels of 100 Gbps

              │        SinglePin        │         MultiPin         │      RoundRobinPin
Size    Count │  Gbps   BusBW %  Lat us │   Gbps   BusBW %  Lat us │   Gbps   BusBW %  Lat us
──────────────┼─────────────────────────┼──────────────────────────┼─────────────────────────
256K    65536 │ 31.52      31.5   66.54 │  32.71       8.2   64.11 │  90.54      22.6   69.49
  4M  1048576 │ 86.24      86.2  389.09 │ 231.14      57.8  145.17 │ 252.64      63.2  398.44

verified: 25.5M bytes checked, none wrong
skipped SingleDMA, MultiDMA: no GPU here
`,
    );
  });

  test.each([80, 100, 132, 200])('fits %i columns', (width) => {
    const text = formatTable(columns(6), { width });
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(width);
  });

  test('stacks the columns that do not fit side by side', () => {
    const heads = formatTable(columns(6), { width: 80 }).match(/Size +Count/g);
    expect(heads).toHaveLength(3);
  });

  test('loses no column when it stacks', () => {
    const text = formatTable(columns(6), { width: 80 });
    for (let i = 0; i < 6; i++) expect(text).toContain(`Column${i}`);
  });

  test('has no empty lines under columns that lack a size', () => {
    const rows = ['Kernel', 'CopyEngine'].flatMap((column, i) =>
      [1024, 2048, 4096].slice(i).map((bytes) => sampleRow({ column, bytes, us: 5 })),
    );
    const side = formatTable(runOf(rows), { width: 120 });
    const stacked = formatTable(runOf(rows), { width: 40 });
    expect(side.match(/^ *1K .*$/gm)).toHaveLength(1);
    expect(stacked.match(/^ *1K .*$/gm)).toHaveLength(1);
    expect(stacked.match(/^ *2K .*$/gm)).toHaveLength(2);
  });

  test('shows a dash where no line rate is known', () => {
    const text = formatTable(runOf([sampleRow({ column: 'A', bytes: 64, us: 5 })]));
    expect(text).toMatch(/64 {5}16 │ 0\.10 +- +5\.00/);
  });

  test('shows the share of the line beside the figure per peer', () => {
    const text = formatTable(allToAllRun());
    expect(text).toContain('Line %');
    expect(text).toContain('37.6');
  });

  test('shows the rate on the line where no line rate is known', () => {
    const run = allToAllRun();
    const rows = run.rows.map((row) => ({ ...row, busbwPercent: null, linePercent: null }));
    expect(formatTable({ ...run, rows })).toMatch(/Line Gbps[\s\S]*37\.60/);
  });

  test('shows the share of the bound beside the times of requests where it is known', () => {
    const request = { column: 'PushRoundRobinPin', bytes: 65_536, us: 10, allowedGbps: 100 };
    const requestTimes = { requests: 2, quantiles: [1000, 2000] };
    const known = sampleRow({ ...request, requestTimes, boundNanoseconds: 9210 });
    expect(formatTable(runOf([known]), { width: 120 })).toMatch(/BusBW % +Bound %[\s\S]*92\.1/);
    const others = [
      sampleRow({ ...request, boundNanoseconds: 9210 }),
      sampleRow({ ...request, requestTimes }),
    ];
    for (const row of others) expect(formatTable(runOf([row]))).not.toContain('Bound %');
  });

  test('shows half round trips where there are any', () => {
    const text = formatTable(
      runOf([sampleRow({ column: 'A', bytes: 64, us: 5, roundTrip: true })]),
    );
    expect(text).toMatch(/Half us[\s\S]*2\.50/);
  });

  test('marks noisy rows', () => {
    const text = formatTable(runOf([sampleRow({ column: 'A', bytes: 2048, us: 5, noisy: true })]));
    expect(text).toContain('3.28~');
    expect(text).toContain('~ noisy');
  });

  test('marks rows within a shaper’s burst', () => {
    const labels = { memory: 'pinned', burst: true } as const;
    const text = formatTable(runOf([sampleRow({ column: 'A', bytes: 2048, us: 5, labels })]));
    expect(text).toContain('3.28*');
    expect(text).toContain('* burst');
  });

  test('names staged columns, and why they are', () => {
    const labels = { memory: 'staged', stagedBecause: 'tcp cannot' } as const;
    const text = formatTable(runOf([sampleRow({ column: 'SingleDMA', bytes: 64, us: 5, labels })]));
    expect(text).toContain('SingleDMA (staged)');
    expect(text).toContain('staged through pinned memory because tcp cannot: SingleDMA');
  });

  test('names direct columns', () => {
    const labels = { memory: 'direct' } as const;
    const text = formatTable(runOf([sampleRow({ column: 'MultiDMA', bytes: 64, us: 5, labels })]));
    expect(text).toContain('MultiDMA (direct)');
    expect(text).toContain('direct from GPU memory to GPU memory: MultiDMA');
  });

  test('says which row failed and why', () => {
    const row = sampleRow({ column: 'A', bytes: 2048, us: 5, checked: { bytes: 4096, wrong: 3 } });
    const text = formatTable(runOf([row]));
    expect(text).toContain('FAILED A 2K: 3 of 4096 bytes are wrong');
    expect(text).toContain('verified: 4K bytes checked, 3 WRONG');
    expect(text).not.toContain('3.28');
  });

  test('names the size that was skipped where others ran', () => {
    const big = skippedRow({ column: 'A', bytes: 2 ** 30, reason: 'needs 8G, 4G are free' });
    const text = formatTable(runOf([sampleRow({ column: 'A', bytes: 64, us: 5 }), big]));
    expect(text).toContain('skipped A 1G: needs 8G, 4G are free');
  });

  test('says that nothing was verified', () => {
    const row = sampleRow({ column: 'A', bytes: 64, us: 5, checked: { bytes: 0, wrong: 0 } });
    expect(formatTable(runOf([row]))).toContain('not verified');
  });

  test('says how far rows are from what was possible', () => {
    const rows = [4000, 2000].map((boundNanoseconds, i) =>
      sampleRow({ column: 'A', bytes: 64 << i, us: 5, boundNanoseconds }),
    );
    expect(formatTable(runOf(rows))).toContain(
      'share of the best possible (bound): A 40.0 to 80.0 %',
    );
  });

  test('says that a run was aborted', () => {
    const errors = [{ code: 'PEER_LOST', message: 'rank 2 was killed' }];
    const text = formatTable(runOf([], { outcome: 'aborted', errors }));
    expect(text).toContain('error: rank 2 was killed');
    expect(text).toContain('aborted: these are partial results');
  });

  test('shows every row of a size and column', () => {
    const rows = [5, 10].map((us) => sampleRow({ column: 'A', bytes: 2048, us }));
    const text = formatTable(runOf(rows));
    expect(text).toContain('3.28');
    expect(text).toContain('1.64');
  });

  test('has no colours unless asked', () => {
    expect(formatTable(writeRun())).not.toContain('\u001b');
    expect(formatTable(writeRun(), { color: true })).toContain('\u001b[1m');
  });

  test('is the same under its colours', () => {
    const row = sampleRow({ column: 'A', bytes: 64, us: 5, failure: 'no' });
    const colored = formatTable(runOf([row]), { color: true });
    const escapeCharacter = String.fromCharCode(27);
    const bare = colored
      .split(escapeCharacter)
      .map((part, i) => (i === 0 ? part : part.replace(/^\[\d+m/, '')));
    expect(bare.join('')).toBe(formatTable(runOf([row])));
  });

  test('draws bars for operations where no row has bytes to rate', () => {
    const rows = [1, 2].map((times) => ({
      ...sampleRow({ column: 'Push', bytes: 64 * times, us: 5, kind: 'queue', mops: 10 * times }),
      gbps: null,
    }));
    const text = formatTable(runOf(rows, { benchmark: 'queue' }), { bars: true, width: 200 });
    expect(text).toContain('of 20.00');
    expect(text).toContain('████████');
  });

  test('can do without Unicode', () => {
    expect(formatTable(writeRun(), { unicode: false })).toMatch(/^[ -~\n]+$/);
  });
});
