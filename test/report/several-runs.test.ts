import { describe, expect, test } from 'vitest';
import { compareRuns } from '../../src/analysis/compare/compare.js';
import { benchmarks } from '../../src/benchmarks/index.js';
import { answerOf } from '../../src/report/answer.js';
import { comparisonsOf } from '../../src/report/comparison.js';
import { renderReport } from '../../src/report/html.js';
import { measuredText } from '../../src/report/measured.js';
import { cardsOf } from '../../src/report/run-cards.js';
import { comparisonParts } from '../../src/results/formats/comparison.js';
import type { Run } from '../../src/results/schema.js';
import { chart, linesIn } from './drawn.js';
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
      /^write: shm runs at 4\.?\d* times the speed of tcp \(unclear in 2 of 2 rows\)\.$/,
    );
    const html = renderReport([slow, fast]);
    expect(html).toContain(comparisonParts(against!.comparison).summary);
    expect(html).toContain('A is tcp, B is shm');
  });

  test('the other runs of the report tell how much runs differ', () => {
    const runs = [9, 9.01, 9.02, 9.01, 18].map((us, i) => ({
      ...by('tcp', timed(us)),
      ...{ id: `run ${i}`, startedAt: `2026-01-02T03:0${i}:00.000Z` },
    }));
    const { comparison } = comparisonsOf(runs).at(-1)!;
    expect(comparison.noise).toEqual({ from: 'history', earlierRuns: 3 });
    expect(comparison.rows[0]).toMatchObject({ verdict: 'slower', noise: { earlierRuns: 3 } });
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

describe('several benchmarks', () => {
  const three = () => [timed(5), made.referenceRun('all2all'), gpu.queueRun()];

  test('are introduced by what they have in common', () => {
    expect(headline(timed(5), made.referenceRun('all2all'), made.referenceRun('sendrecv'))).toBe(
      '3 benchmarks on efa, 4 ranks on 4 hosts: all passed, no wrong bytes.',
    );
    expect(headline(by('tcp', timed(5)), made.referenceRun('all2all'))).toBe(
      '2 benchmarks, 4 ranks on 4 hosts: all passed, no wrong bytes.',
    );
  });

  test('of several variants name the winner once', () => {
    const variant = (name: string, factor: number) =>
      [timed(5 * factor, [1024]), { ...timed(8 * factor, [1024]), benchmark: 'all2all' }].map(
        (run) => by(name, run),
      );
    expect(headline(...variant('tcp', 2), ...variant('shm', 1))).toBe(
      'shm reached the highest rate in all 2 benchmarks.',
    );
    const [write, all2all] = [variant('tcp', 1)[0]!, variant('tcp', 3)[1]!];
    expect(headline(write, all2all, ...variant('shm', 2))).toBe(
      'Highest rate: tcp in write; shm in all2all.',
    );
  });

  test('of which some have several runs say both', () => {
    const runs = [by('tcp', timed(5)), by('shm', timed(10)), made.referenceRun('all2all')];
    expect(headline(...runs)).toBe(
      '3 runs of 2 benchmarks, 4 ranks on 4 hosts: all passed, no wrong bytes; highest rate: tcp in write.',
    );
  });

  test('that checked nothing do not claim that nothing was wrong', () => {
    const unchecked = made.row({ column: 'a', bytes: 8, us: 5, checked: { bytes: 0, wrong: 0 } });
    expect(headline(made.run('write', [unchecked]), made.referenceRun('all2all'))).toMatch(
      /: all passed\.$/,
    );
  });

  test('say in one sentence how many have problems', () => {
    const aborted = (run: Run): Run => ({ ...run, outcome: 'aborted' });
    const [a, b, c] = three();
    expect(headline(aborted(a!), aborted(b!), c!)).toMatch(/^2 of 3 runs have problems\. /);
    expect(headline(aborted(a!), b!, c!)).toMatch(/^write did not finish: /);
  });
});

describe('the cards of several runs', () => {
  const cards = (...runs: Run[]) => cardsOf(runs, comparisonsOf(runs));

  test('give each run its own answer, in the order of the runs', () => {
    const runs = ['tcp', 'shm', 'efa'].map((name, i) => by(name, timed([10, 5, 7][i]!)));
    const [tcp, shm, efa] = cards(...runs);
    expect([tcp, shm, efa].map((card) => card!.title)).toEqual([
      'write: tcp',
      'write: shm',
      'write: efa',
    ]);
    expect(shm!.finding).toBe(answerOf([runs[1]!]).headline);
    expect(tcp!.points.map(({ text }) => text).join()).not.toContain('speed of');
    expect(shm!.points[0]!.text).toMatch(/^shm runs at [\d.]+ times the speed of tcp \(/);
  });

  test('are good, in doubt or bad', () => {
    const noisy = made.row({ column: 'a', bytes: 8, us: 5, noisy: true });
    const wrong = made.row({ column: 'a', bytes: 8, us: 5, checked: { bytes: 16, wrong: 2 } });
    const states = [timed(5), made.run('b', [noisy]), made.run('c', [wrong])];
    expect(cards(...states).map(({ state }) => state)).toEqual(['good', 'doubt', 'bad']);
  });

  test('replace the list of points and subjects', () => {
    const page = renderReport([timed(5), made.referenceRun('all2all')]);
    expect(page.match(/<article class="card run good">/g)).toHaveLength(2);
    expect(page.match(/<p class="subject">/g)).toHaveLength(2);
    expect(renderReport([timed(5)])).not.toContain('<article');
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

test('charts by size of many runs show the smallest and the largest number of hosts', () => {
  const four = made.nodeRuns().map((run) => ({
    ...run,
    rows: run.rows.flatMap((row) => [row, { ...row, bytes: row.bytes! * 2 }]),
  }));
  const world = { ranks: 32, hosts: made.hosts(32), launcher: 'slurm' };
  const five = [...four, { ...four[3]!, id: 'largest', world }];
  const shownIn = (id: string, runs: readonly Run[]) =>
    new Set(linesIn(chart(runs, id)).map(({ name }) => name.split(' · ')[1]));
  for (const id of ['bandwidth', 'latency', 'busbw', 'line']) {
    expect(shownIn(id, five)).toEqual(new Set(['2 hosts', '32 hosts']));
    expect(chart(five, id).caption).toContain('Not shown: 4, 8, 16 hosts; see the chart');
    expect(shownIn(id, four).size).toBe(4);
    expect(chart(four, id).caption).not.toContain('Not shown');
  }
  const [line] = linesIn(chart(five, 'nodes'));
  expect(line!.data.map(([hosts]) => hosts)).toEqual([2, 4, 8, 16, 32]);
});
