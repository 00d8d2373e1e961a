import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { steadyOutliers } from '../../src/analysis/diagnosis/outliers.js';
import type { Row, Run } from '../../src/results/schema.js';
import { Desk, withFault } from './weft.js';

const suite = (provider: string) => `
defaults: { minBytes: 4K, maxBytes: 4K, budgetMs: 20, channels: 2, columns: [MultiPin], provider: ${provider} }
runs:
  - benchmark: incast
  - { benchmark: incast, receiver: 2, senders: 2 }
  - { benchmark: permute, permutations: 3, seed: 5 }
  - benchmark: bisect
  - { benchmark: ring, both: true }
  - benchmark: bidir
  - { benchmark: rate, messages: 64, minBytes: 8, maxBytes: 8 }
  - { benchmark: traffic, file: trace.jsonl }
`;

/** The last starts 3 ms after an iteration's start, and everything else is over long before. */
const trace = `{"from": 0, "to": 1, "bytes": 1000, "id": 1}
{"from": 1, "to": 3, "bytes": "1K", "id": 2, "after": 1}
{"at": 3000, "from": 3, "to": 0, "bytes": 8, "after": 2}
`;

/** What a row of 4 ranks and 4 KiB verifies: twice, in every turn. */
const arriving: Record<string, number[]> = {
  incast: [3, 2],
  permute: [3 * 4],
  bisect: [4],
  ring: [8],
  bidir: [3 * 2],
};

const rowsOf = (runs: readonly Run[], id: string): Row[] =>
  runs.filter(({ benchmark }) => benchmark === id).flatMap(({ rows }) => rows);

describe.each(['shm', 'tcp'])('over %s', (provider) => {
  test('every pattern of writes moves and verifies what it says', async () => {
    using desk = new Desk();
    writeFileSync(join(desk.folder, 's.yaml'), suite(provider));
    writeFileSync(join(desk.folder, 'trace.jsonl'), trace);
    const { exitCode, stderr } = await desk.weft('suite s.yaml --ranks 4 --quiet');
    expect(exitCode, stderr).toBe(0);
    const runs = desk.runs().map(({ run }) => run);
    for (const [id, blocks] of Object.entries(arriving)) {
      const checked = rowsOf(runs, id).map((row) => row.checked.bytes);
      expect(checked, id).toEqual(blocks.map((count) => 2 * count * 4096));
    }

    const [all, two] = rowsOf(runs, 'incast');
    expect(all!.gbps).toBeCloseTo((3 * 4096 * 8) / all!.nanoseconds!.mean, 6);
    expect(two!.gbps).toBeCloseTo((2 * 4096 * 8) / two!.nanoseconds!.mean, 6);
    // The receiver's clock counts.
    expect(two!.nanoseconds!.mean).toBeCloseTo(two!.perRank![2]!.nanoseconds!.mean, -1);

    const [permuted] = rowsOf(runs, 'permute');
    expect([5, 6, 7]).toContain(permuted!.worstSeed);
    expect(permuted!.perRank).toHaveLength(4);

    const [bisected] = rowsOf(runs, 'bisect');
    expect(bisected!.totalGbps).toBeCloseTo(4 * bisected!.gbps!, 6);

    const [ring] = rowsOf(runs, 'ring');
    expect(ring!.lineGbps).toBeCloseTo(2 * ring!.gbps!, 6);

    const [both] = rowsOf(runs, 'bidir');
    expect(both!.gbps).toBeCloseTo(2 * both!.lineGbps!, 6);
    expect(both!.perPeer!.map(({ to }) => to)).toEqual([1, 2, 3]);

    const [rate] = rowsOf(runs, 'rate');
    expect(rate!.checked.bytes).toBe(2 * 64 * 8);
    expect(rate!.mops).toBeCloseTo(64e3 / rate!.nanoseconds!.mean, 6);

    const [traced] = rowsOf(runs, 'traffic');
    expect(traced!.checked.bytes).toBe(2 * 2032);
    expect(traced!.nanoseconds!.min).toBeGreaterThan(3e6);
    expect(traced!.totalGbps).toBeCloseTo((2032 * 8) / traced!.nanoseconds!.mean, 6);
  });
});

test('a pair is timed under load and alone', async () => {
  using desk = new Desk();
  const line = 'victim --load-bytes 32M --round-trips 4 --budget-ms 20 --columns SinglePin';
  const { exitCode, stdout, stderr } = await desk.weft(`${line} --provider shm --format json`);
  expect(exitCode, stdout + stderr).toBe(0);
  const [row] = JSON.parse(stdout).rows as Row[];
  expect(row!.slowdown).toBeCloseTo(row!.nanoseconds!.p50 / row!.aloneP50Nanoseconds!, 6);
  // Single round trips, not iterations; at most 3 of 4 count.
  expect(row!.batch).toBe(1);
  expect(row!.ofBoundPercent).toBeNull();
});

test('a pair is measured while the other ranks load each other', async () => {
  using desk = new Desk();
  const few = 'provider: tcp, columns: [SinglePin], roundTrips: 128, iterations: 6, warmup: 0';
  const lines = ['permute', 'all2all'].map(
    (load) => `  - { benchmark: victim, load: ${load}, loadBytes: 8M, ${few} }`,
  );
  writeFileSync(join(desk.folder, 's.yaml'), ['runs:', ...lines].join('\n'));
  const { exitCode, stdout, stderr } = await desk.weft('suite s.yaml --ranks 4 --quiet');
  expect(exitCode, stdout + stderr).toBe(0);
  const rows = rowsOf(
    desk.runs().map(({ run }) => run),
    'victim',
  );
  expect(rows).toHaveLength(2);
  for (const row of rows) {
    expect(row).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
    expect(row.samples.length).toBeGreaterThan(0);
    expect(row.slowdown).toBeGreaterThan(0);
  }
});

test.each(['kv-burst.jsonl', 'moe-zipf.csv'])(
  'recording %s again gives the same file',
  async (name) => {
    using desk = new Desk();
    const example = readFileSync(
      new URL(`../../examples/traffic/${name}`, import.meta.url),
      'utf8',
    );
    const command = /^# weft (.*)$/m.exec(example)![1]!;
    expect(await desk.weft(command)).toMatchObject({ exitCode: 0 });
    const again = readFileSync(join(desk.folder, name), 'utf8');
    expect(again).toBe(example.replace(/^#.*\n/gm, ''));
  },
);

test('a benchmark is recorded as a file that runs again with the same bytes', async () => {
  using desk = new Desk();
  const record = await desk.weft('ring --ranks 3 --both -e 4K --record-traffic ring.csv');
  expect(record).toMatchObject({ exitCode: 0, stdout: '' });
  const { stdout } = await desk.weft(
    'traffic ring.csv --budget-ms 10 --columns SinglePin --format json',
  );
  const run = JSON.parse(stdout);
  expect(run).toMatchObject({ outcome: 'passed', world: { ranks: 3 } });
  expect(run.settings.inputHash).toMatch(/^[0-9a-f]{12}$/);
  expect(run.rows[0].checked.bytes).toBe(2 * 6 * 4096);
});

test('a broken byte of any sender to one receiver is found', async () => {
  using desk = new Desk();
  const line = 'incast --ranks 3 -b 64K -e 64K --columns SinglePin --budget-ms 20';
  const { exitCode, stdout } = await desk.weft(line, withFault('flip:0:70000'));
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/on rank 0, byte 4464 from rank 2 is 0x/);
});

test('senders that share a full receiver are not accused, one that is slow alone is', () => {
  const at = (nanoseconds: number): Row['nanoseconds'] => ({
    ...{ min: 1, mean: nanoseconds, p50: nanoseconds, p95: 1, p99: 1, max: 1 },
    ...{ stddev: 0, ci95: null },
  });
  const rows = (times: readonly number[]) =>
    Array.from({ length: 3 }, () => ({
      nanoseconds: at(1),
      labels: {},
      perRank: times.map((time, rank) => ({ rank, nanoseconds: at(time) })),
    })) as unknown as Row[];
  expect(steadyOutliers(rows([300, 301, 299, 305]), [])).toEqual([]);
  expect(steadyOutliers(rows([300, 301, 299, 700]), [])).toMatchObject([{ rank: 3 }]);
});

test.each([
  ['incast --ranks 3 --receiver 3', '--receiver is 3, but the ranks are 0 to 2'],
  ['incast --ranks 3 --senders 3', '--senders is 3, but there are 2 other ranks'],
  ['victim --ranks 3 --load permute', '--load permute needs at least 2 ranks besides the pair'],
  ['write --explain --channels 1025', 'It must be a whole number from 1 to 1024'],
  ['traffic', 'traffic needs a file'],
  ['traffic /nowhere/x.csv', 'cannot read /nowhere/x.csv'],
  ['sendrecv --record-traffic p.csv', 'a CSV list cannot hold times and dependencies'],
  ['predict victim', 'does not include queueing delays'],
])('%s is refused', async (line, why) => {
  using desk = new Desk();
  const { exitCode, stderr } = await desk.weft(line);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(why);
});
