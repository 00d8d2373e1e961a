import { describe, expect, test } from 'vitest';
import { kvTraffic } from '../../src/plan/patterns/kv.js';
import { contentsOf } from '../../src/plan/traffic.js';
import { runSchema } from '../../src/results/schema.js';
import { Desk, withFault } from './weft.js';

const tiny = 'kv -b 4K -e 4K --prefill 1 --decode 2 --requests 4 --layers 2 --pages 3 -n 5';
const pages = 4 * 2 * 3;

describe.each(['shm', 'tcp'])('over %s', (provider) => {
  test('every page of every request is handed over, pushed and pulled', async () => {
    using desk = new Desk();
    const { exitCode, stdout } = await desk.weft(
      `${tiny} --channels 2 --provider ${provider} --rate 1000 --arrivals even --format json`,
    );
    expect(exitCode).toBe(0);
    const { rows, world } = runSchema.parse(JSON.parse(stdout));
    expect(world.ranks).toBe(3);
    const measured = rows.filter(({ outcome }) => outcome !== 'skipped');
    expect(measured.map(({ column }) => column)).toEqual([
      'PushMultiPin',
      'PushRoundRobinPin',
      'PullMultiPin',
      'PullRoundRobinPin',
    ]);
    for (const row of measured) {
      expect(row.outcome).toBe('passed');
      expect(row.checked).toEqual({ bytes: 2 * pages * 4096, wrong: 0 });
      // The last request arrives 3 ms after the first.
      expect(row.nanoseconds!.min).toBeGreaterThanOrEqual(3e6);
      expect(row.requestTimes!.requests).toBe(5 * 4);
      const { quantiles } = row.requestTimes!;
      expect(quantiles).toEqual([...quantiles].sort((a, b) => a - b));
      expect(row.lastPageP50Nanoseconds).toBeLessThanOrEqual(row.lastPageP99Nanoseconds!);
      expect(row.handedOverGBps).toBeCloseTo((pages * 4096) / row.nanoseconds!.mean, 9);
      expect(row.coalescedPercent).toBeGreaterThan(0);
    }
  });
});

test('a request is timed from its own arrival, and bursts arrive at the rate that was asked for', async () => {
  using desk = new Desk();
  const { exitCode, stdout } = await desk.weft(
    'kv -b 4K -e 4K --ranks 2 --requests 8 --layers 2 --pages 3 -n 3 --channels 1 --provider shm ' +
      '--rate 50 --burst 2 --arrivals even --line-rate 100 --columns PushMultiPin,PullMultiPin --format json',
  );
  expect(exitCode).toBe(0);
  const { rows } = runSchema.parse(JSON.parse(stdout));
  expect(rows).toHaveLength(2);
  // Of eight requests in pairs, the last arrive 120 ms after the first; at 100 Gbps the pages need a few microseconds.
  const lastArrival = 120e6;
  for (const { nanoseconds, ofBoundPercent, lastPageP50Nanoseconds } of rows) {
    const bound = (nanoseconds!.mean * ofBoundPercent!) / 100;
    expect(bound).toBeGreaterThan(lastArrival);
    expect(bound).toBeLessThan(1.01 * lastArrival);
    expect(nanoseconds!.min).toBeGreaterThan(lastArrival);
    // From the start of the iteration, half of them would take a third of it or more.
    expect(lastPageP50Nanoseconds! / nanoseconds!.min).toBeLessThan(1 / 4);
  }
});

test.each([
  // Pages of a layer are neighbours: one operation for each of the 2 layers of the 4 requests.
  ['on', 8, 100 * (1 - 8 / 24)],
  ['off', 24, 0],
])('with --coalesce %s, %i operations move the pages', async (coalesce, operations, saved) => {
  using desk = new Desk();
  const { exitCode, stdout } = await desk.weft(
    `${tiny} --fragmentation 0 --coalesce ${coalesce} --channels 2 --format json`,
  );
  expect(exitCode).toBe(0);
  const rows = runSchema.parse(JSON.parse(stdout)).rows.filter((row) => row.bytes !== null);
  expect(rows.filter(({ outcome }) => outcome === 'passed')).toHaveLength(4);
  for (const row of rows) {
    expect(row.checked).toEqual({ bytes: 2 * pages * 4096, wrong: 0 });
    expect((row.operationsPerSecond! * row.nanoseconds!.mean) / 1e9).toBeCloseTo(operations, 6);
    expect(row.coalescedPercent).toBeCloseTo(saved, 9);
  }
});

test('a wrong byte in a page is found and named', async () => {
  using desk = new Desk();
  const traffic = kvTraffic({
    ...{ world: 3, prefill: 1, requests: 4, layers: 2, pages: 3, pageBytes: 4096 },
    ...{ fragmentation: 0.5, coalesce: true, seed: 1 },
  });
  const [page] = contentsOf(traffic, 2);
  const { exitCode, stdout } = await desk.weft(
    `${tiny} --columns PushMultiPin`,
    withFault(`flip:2:${page!.offset + 77}`),
  );
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/on rank 2, byte \d+ from rank 0 is 0x\w\w instead of 0x\w\w/);
});

test('pages that a read did not bring are found', async () => {
  using desk = new Desk();
  const line = `${tiny} --columns PullMultiPin --format json`;
  const { exitCode, stdout } = await desk.weft(line, withFault('drop:1'));
  expect(exitCode).toBe(1);
  const [row] = runSchema.parse(JSON.parse(stdout)).rows;
  expect(row!.outcome).toBe('failed');
  expect(row!.checked.wrong).toBeGreaterThan(pages * 4000);
});

test.each([
  ['--burst 2', 'needs'],
  ['--prefill 2 --decode 3 --ranks 4', '2 prefill and 3 decode ranks do not fit 4 ranks'],
  ['--rate 0.01 --requests 8', 'later than'],
  ['--fragmentation 2', 'a number from 0 to 1'],
])('%s is refused', async (options, message) => {
  using desk = new Desk();
  const { exitCode, stderr } = await desk.weft(`kv ${options}`);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(message);
});
