import { expect, test } from 'vitest';
import { noFigures } from '../../src/measure/figures.js';
import type { Finding } from '../../src/results/finding.js';
import { formatRun } from '../../src/results/formats/format-run.js';
import { measuredRow } from '../../src/results/rows.js';
import type { Row, Run } from '../../src/results/schema.js';
import { header, runOf, sampleRow } from './fixtures.js';

const finding: Finding = {
  cause: 'nic',
  who: { host: 'h1', nic: 'eth1', rail: 1, direction: 'out' },
  symptom: 'slow',
  effect: 0.4,
  confidence: 0.97,
  evidence: 'It is slow alone.',
  next: 'Look at it.',
};

function pairRun(ranks: number, slow: number): Run {
  const rows: Row[] = [];
  for (let from = 0; from < ranks; from++) {
    for (let to = 0; to < ranks; to++) {
      if (from === to) continue;
      const ns = from === slow ? 2000 : 800;
      const common = {
        kind: 'pair',
        labels: { from, to },
        checked: { bytes: 8, wrong: 0 },
      } as const;
      rows.push(
        measuredRow({
          ...common,
          column: 'Bandwidth',
          bytes: 10_000,
          samples: [ns, ns],
          figures: noFigures,
        }),
        measuredRow({
          ...common,
          column: 'Latency',
          bytes: 8,
          samples: [3000, 3000],
          figures: noFigures,
          roundTrip: true,
        }),
      );
    }
  }
  const hostOfRank = Array.from({ length: ranks }, (_, rank) => `h${rank}`);
  const world = { ...header.world, ranks, hosts: hostOfRank, hostOfRank };
  const found = {
    retested: true,
    findings: [finding],
    notConfirmed: ['host h2 looked late'],
    pace: [],
    retests: [],
  };
  return runOf(rows, { benchmark: 'pairs', world, diagnosis: found });
}

test('a matrix has a line for each sender, shaded by how far it is from the best', () => {
  const text = formatRun(pairRun(4, 1), 'table', { width: 100 });
  expect(text).toMatch(/from \\ to +h0 +h1 +h2 +h3/);
  expect(text).toMatch(/^h0 +- █ +100 █ +100 █ +100$/m);
  expect(text).toMatch(/^h1 +░ 40\.0 +- ░ 40\.0 ░ 40\.0$/m);
  expect(text).toContain('1.50');
});

test('without Unicode and colour it reads the same', () => {
  const text = formatRun(pairRun(3, 1), 'table', { width: 100, unicode: false });
  expect(text).toMatch(/^h1 +\. 40\.0 +- \. 40\.0$/m);
  // Only the title of the run, which names the guilty, may have other signs.
  expect(text.split('\n').slice(2).join('\n')).toMatch(/^[\x20-\x7e\n]*$/);
});

test('a world wider than the terminal shows its worst ranks', () => {
  const text = formatRun(pairRun(30, 7), 'table', { width: 80 });
  expect(text).toMatch(/30 × 30 ranks, slowest 10/);
  expect(text).toMatch(/^h7 +40 % +100 %/m);
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

test('a matrix larger than the argument limit of a call is drawn too', () => {
  expect(formatRun(pairRun(400, 7), 'table', { width: 80 })).toMatch(/^h7 +40 % +100 %/m);
});

test('the guilty and the acquitted stand below, in every format for people', () => {
  for (const format of ['table', 'markdown'] as const) {
    const text = formatRun(pairRun(3, 1), format, { width: 200 });
    expect(text).toContain(
      'NIC eth1 of h1, outgoing: slow, 40 % of healthy bandwidth (confidence 0.97)',
    );
    expect(text).toContain('It is slow alone. Look at it.');
    expect(text).toContain('not confirmed: host h2 looked late');
  }
});

const peers = (times: readonly number[], bytes = 2 ** 20): Row =>
  sampleRow({
    column: 'SinglePin',
    bytes,
    us: 100,
    perPeer: times.map((us, i) => {
      const ns = us * 1000;
      const nanoseconds = {
        min: ns,
        mean: ns,
        p50: ns,
        p95: ns,
        p99: ns,
        max: ns,
        stddev: 0,
        ci95: null,
      };
      return { from: 0, to: i + 1, gbps: null, nanoseconds };
    }),
  });

test('a peer far behind the others is pointed out below other tables', () => {
  const text = formatRun(runOf([peers([100, 101, 160])]), 'table', { width: 120 });
  expect(text).toContain('rank 3 (d) runs SinglePin at 63 % of the speed of the other ranks');
});

test.each([
  ['all alike', [peers([100, 103, 98])]],
  ['a spread that is usual here', [peers([60, 100, 140])]],
  [
    'one bad moment among sizes',
    [peers([100, 101, 99], 1024), peers([100, 101, 99], 2048), peers([100, 101, 160])],
  ],
  ['too few to tell', [peers([100, 200])]],
])('nobody is pointed out: %s', (_, rows) => {
  expect(formatRun(runOf(rows), 'table')).not.toContain('of the other ranks');
});

test('pairs that were not chosen are blank, and the title counts those that were', () => {
  const run = pairRun(4, 1);
  const some = run.rows.filter(({ labels }) => Math.abs(labels.from! - labels.to!) < 3);
  const failed = some.map((row) =>
    row.labels.from === 0 && row.labels.to === 1 ? { ...row, nanoseconds: null } : row,
  );
  const text = formatRun({ ...run, rows: failed }, 'table', { width: 100 });
  expect(text).toContain('Bandwidth, Gbps (10 of 12 directed pairs; the others were not measured)');
  expect(text).toMatch(/^h0 +- {6}- █ +100$/m);
  expect(formatRun({ ...run, rows: failed }, 'markdown')).toMatch(/\(10 of 12 directed pairs/);
});

test('a rank without a pair is not among the slowest', () => {
  const run = pairRun(30, 7);
  const rows = run.rows.filter(({ labels }) => labels.from !== 3 && labels.to !== 3);
  expect(formatRun({ ...run, rows }, 'table', { width: 80 })).not.toMatch(/^h3 /m);
});

test('a scan of some pairs says what it covered', () => {
  const run = pairRun(4, 1);
  const share = (covered: number, all = covered) => ({ covered, all });
  const scan = {
    scope: 'all' as const,
    network: 'topology.yaml',
    rounds: 5,
    closerRounds: 1,
    pairs: share(5, 6),
    hosts: share(4),
    nics: share(8),
    leaves: share(2),
    crossings: share(1),
  };
  const text = formatRun({ ...run, diagnosis: { ...run.diagnosis!, scan } }, 'table', {
    width: 200,
  });
  expect(text).toContain(
    'scope all: 5 of 6 pairs in 5 rounds, 1 of them around suspects; ' +
      'covered 4 of 4 hosts, 8 of 8 NICs, 2 of 2 leaves, 1 of 1 crossings between leaves',
  );
});

test('a file that names ranks which the run does not have is shown without them', () => {
  const run = pairRun(3, 1);
  const strange = { ...run.rows[0]!, labels: { from: 9, to: 1 } };
  const stranger = { ...run.rows[0]!, labels: { from: 0, to: 2 ** 31 } };
  const text = formatRun({ ...run, rows: [...run.rows, strange, stranger] }, 'table');
  expect(text).toContain('from \\ to');
});
