import { describe, expect, test } from 'vitest';
import { compareRuns } from '../../src/analysis/compare/compare.js';
import { benchmarks } from '../../src/benchmarks/index.js';
import { answerOf } from '../../src/report/answer.js';
import { comparisonsOf } from '../../src/report/comparison.js';
import { renderReport } from '../../src/report/html.js';
import { measuredText } from '../../src/report/measured.js';
import { comparisonParts } from '../../src/results/formats/comparison.js';
import type { Run } from '../../src/results/schema.js';
import * as made from './fixtures.js';
import * as gpu from './gpu-fixtures.js';

const by = (provider: string, run: Run): Run => ({ ...run, fabric: { ...run.fabric, provider } });
const timed = (us: number, sizes = [1024, 2048]): Run =>
  made.run(
    'write',
    sizes.map((bytes, i) =>
      made.row({ column: 'SinglePin', bytes, us: i === 0 ? us : 20 + (us % 1) }),
    ),
  );
const headline = (...runs: Run[]) => answerOf(runs, comparisonsOf(runs)).headline;

describe('two runs', () => {
  const [slow, fast] = [by('tcp', timed(80)), by('shm', timed(5))];

  test('are judged as weft compare judges them', () => {
    const [against] = comparisonsOf([slow, fast]);
    expect(against!.comparison).toEqual(compareRuns([slow], [fast]));
    expect(headline(slow, fast)).toMatch(
      /^write: shm runs at 4\.?\d* times the speed of tcp \(faster in 1 of 2 rows, slower in 0, no clear difference in 1\)\.$/,
    );
    const html = renderReport([slow, fast]);
    expect(html).toContain(comparisonParts(against!.comparison).answer);
    expect(html).toContain('A is tcp, B is shm');
  });

  test('with repeats are judged by their repeats', () => {
    const repeated = (us: number, provider: string) => {
      const rows = [0, 1, 2, 3, 4].flatMap((repeat) =>
        timed(us + repeat * 0.01).rows.map((row) => ({ ...row, repeat })),
      );
      return by(provider, made.run('write', rows));
    };
    // Twice the time is nothing between single runs.
    expect(headline(repeated(18, 'tcp'), repeated(9, 'shm'))).toContain('faster in 1 of 2 rows');
  });

  test('begin with what is wrong in either', () => {
    const wrong = made.row({ column: 'a', bytes: 8, us: 5, checked: { bytes: 16, wrong: 2 } });
    expect(headline(slow, by('shm', made.run('write', [wrong])))).toMatch(
      /^write \(shm\) delivered wrong data\. /,
    );
  });
});

describe('three runs', () => {
  test('have their fastest named', () => {
    const runs = ['tcp', 'shm', 'efa'].map((name, i) => by(name, timed([10, 5, 7][i]!)));
    expect(headline(...runs)).toMatch(/^write: of 3 runs, shm is the fastest with \S+ Gbps/);
  });

  test('are ranked by sizes that all have', () => {
    const large = by('efa', timed(1, [2 ** 20, 2 ** 21]));
    const runs = [by('tcp', timed(10)), by('shm', timed(5)), large];
    expect(headline(...runs)).toBe('write: the 3 runs have no size in common.');
  });

  test('that count operations are ranked by those', () => {
    const run = gpu.queueRun();
    const doubled = run.rows.map((row) => (row.mops ? { ...row, mops: 2 * row.mops } : row));
    const runs = [by('tcp', run), by('shm', { ...run, rows: doubled }), by('efa', run)];
    expect(headline(...runs)).toContain('shm is the fastest with 386.5 Mops/s (Push, 16 bytes)');
  });

  test('of different worlds are not ranked', () => {
    const said = headline(...made.nodeRuns());
    expect(said).toMatch(/^all2all: the runs differ in ranks or hosts; best of each: 2 hosts\S* /);
    expect(said).not.toContain('fastest');
  });
});

test('the median of an even number of pairs is halfway between the middle two', () => {
  const rates = [10, 20, 30, 40];
  const rows = rates.map((gbps, i) => {
    const labels = { from: 0, to: i + 1 };
    return { ...made.row({ kind: 'pair', column: 'Bandwidth', bytes: 1024, us: 1, labels }), gbps };
  });
  expect(headline(made.run('pairs', rows))).toContain('median 25 Gbps');
});

test.each(benchmarks.map(({ id }) => id))('what the clock encloses in %s is said', (id) => {
  expect(measuredText([made.run(id, [])])[0]).toMatch(new RegExp(`^${id}\\. One iteration: `));
});
