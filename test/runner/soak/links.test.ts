import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Row } from '../../../src/results/schema.js';
import type { OpenBenchmark } from '../../../src/runner/benchmark.js';
import { Course, Interval } from '../../../src/runner/soak/course.js';
import type { LapReport } from '../../../src/runner/soak/lap.js';
import { Ledger } from '../../../src/runner/soak/ledger.js';
import { OwnSoak } from '../../../src/runner/soak/own-soak.js';
import { intervalRow } from '../../../src/runner/soak/soak-row.js';
import { HostCounters } from '../../../src/session/path/counters.js';
import { openWorld, type World } from '../../../src/world/world.js';
import { sampleRow } from '../../results/fixtures.js';
import { fakeSysfs } from '../../topology/fake-sysfs.js';

const sysfs = fakeSysfs();
const link = (carrier: 0 | 1, downs: number) =>
  sysfs.put({
    'class/net/nic0/carrier': String(carrier),
    'class/net/nic0/carrier_down_count': String(downs),
  });

const before = process.env.SYSFS_PATH;
beforeEach(() => {
  process.env.SYSFS_PATH = sysfs.root;
});
afterEach(() => {
  if (before === undefined) delete process.env.SYSFS_PATH;
  else process.env.SYSFS_PATH = before;
});

const soaking = (everyMs: number, forMs: number) => {
  const rows: Row[] = [];
  const listener = { starting() {}, row: (row: Row) => void rows.push(row) };
  return { rows, course: new Course({ everyMs, forMs, reopen: false }, {}, listener, 0) };
};
const row = sampleRow({ column: 'MultiPin', bytes: 1024, us: 100 });

test('what is found while a size is verified that has no loop is told by the first row there is', () => {
  const { course } = soaking(60_000, 60_000);
  const places = { hosts: ['h0', 'h1'], nics: [['nic0'], ['nic0']] };
  const ledger = new Ledger('initiator', places, course);
  const report: LapReport = {
    samples: new Float64Array([3e9]),
    wallMs: 3000,
    silences: [],
    links: [],
    pauses: [],
  };
  const down = { nic: 'nic0', atMs: 500, milliseconds: 2000 };
  const reports = [report, { ...report, links: [down] }];
  expect(ledger.addVerified({ reports, at: Date.now(), cell: 0 }, 1e9)).toHaveLength(1);
  for (const cell of [1, 2]) {
    const count = { iterations: 4, batch: 1, expectedMs: 400 };
    const lap = { cell, turn: 0, count, silenceMs: 100 };
    const timed = { ...report, samples: new Float64Array(4).fill(1e8), wallMs: 400 };
    ledger.add({ lap, reports: [timed, timed], at: Date.now() }, 1e8);
  }
  ledger.settle();
  const [first, second] = [1, 2].map((cell) =>
    intervalRow(row, ledger, cell, new Interval(course, 0)),
  );
  expect(first!.soak).toMatchObject({
    stallCount: 1,
    stalls: [{ during: 'verification', proven: true }],
    links: [{ host: 'h1', nic: 'nic0', ranks: [1], milliseconds: 2000 }],
  });
  expect(second!.soak).toMatchObject({ stallCount: 0, stalls: [], links: [] });
});

/** A benchmark that says what each of its runs does. */
function ownSoak(course: Course, world: World, runs: ((soak: OwnSoak) => void)[]): OwnSoak {
  const routes = { hostOf: [0], nics: [['nic0', 'lo']], provider: 'tcp' };
  const path = { counters: new HostCounters(), routes };
  let next = 0;
  const opened = { session: { path }, run: async () => runs[next++]?.(soak) };
  const soak = new OwnSoak(opened as unknown as OpenBenchmark, world, course);
  return soak;
}

test('a link failure in a run without a row is told with the next row', async () => {
  link(1, 0);
  const { course, rows } = soaking(10, 60_000);
  await using world = await openWorld({ env: {} });
  await using soak = ownSoak(course, world, [() => link(1, 1), (own) => own.row(row)]);
  const past = (number: number) =>
    Object.assign(new Interval(course, number), { isOver: () => true });
  expect(await soak.interval(past(0))).toBe(true);
  expect(rows).toEqual([]);
  await soak.interval(past(1));
  expect(rows).toMatchObject([
    { repeat: 1, soak: { links: [{ nic: 'nic0', milliseconds: 0 }], counters: { nics: 1 } } },
  ]);
});

test('a link that is down at the end is told by a benchmark with its own procedure, too', async () => {
  link(1, 0);
  const { course, rows } = soaking(10, 1);
  const down = (own: OwnSoak) => {
    link(0, 1);
    own.row(row);
  };
  await using world = await openWorld({ env: {} });
  await using soak = ownSoak(course, world, [down]);
  while (course.goesOn()) await new Promise(setImmediate);
  const over = Object.assign(new Interval(course, 0), { isOver: () => true });
  expect(await soak.interval(over)).toBe(false);
  expect(rows).toMatchObject([{ soak: { links: [{ nic: 'nic0', milliseconds: null }] } }]);
});
