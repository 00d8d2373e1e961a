import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Run } from '../../src/results/schema.js';
import { Desk, withFault } from '../benchmarks/weft.js';

const quick = '--columns SinglePin --budget-ms 20';
const rowsOf = (stdout: string) => (JSON.parse(stdout) as Run).rows;

/** Its plan is an all-to-all whatever it is compared with: one collective for each size. */
const kinds = { 4096: 'allreduce', 8192: 'allgather', 16384: 'reduce-scatter', 32768: 'broadcast' };
const benchmark = `
import { allToAll, allToAllBytes, allToAllTraffic, choice, columns, defineBenchmark, option, pinned, single }
  from '${resolve(import.meta.dirname, '../../dist/entry/benchmark.js')}';
const kinds = ${JSON.stringify(kinds)};
export default defineBenchmark({
  id: 'like-others', summary: 'Compare all collectives.', ranks: { min: 2 }, columns: columns([single], [pinned]),
  sizes: { minBytes: 4096, maxBytes: 32768, factor: 2 }, clock: 'slowest', pattern: 'allToAll',
  options: { dtype: option({ flags: '--dtype <type>', help: 'type',
    kind: choice(['float32', 'float16', 'bfloat16', 'int32']), default: 'float32' }) },
  against: ({ bytes, options: { dtype } }) => ({ kind: kinds[bytes], bytes, dtype, root: 1 }),
  turns: ({ world, bytes }) => [{
    traffic: allToAllTraffic({ world, bytes }),
    plan: (situation) => allToAll({ world, bytes, ...situation }),
    figureBytes: allToAllBytes(bytes, world),
  }],
});
`;

describe('--against', () => {
  test.each([
    ['float32', { mpi: ['passed', 'passed', 'passed', 'passed'] }],
    ['float16', { mpi: ['skipped', 'passed', 'skipped', 'passed'] }],
  ])('every collective of %s by MPI and gloo, verified', async (dtype, { mpi }) => {
    using desk = new Desk();
    writeFileSync(join(desk.folder, 'like-others.mjs'), benchmark);
    const line = `run ./like-others.mjs --ranks 3 --dtype ${dtype} --against mpi,gloo ${quick} --format json`;
    const { exitCode, stdout, stderr } = await desk.weft(line);
    expect(exitCode, stderr).toBe(0);
    const rows = rowsOf(stdout);
    const of = (column: string) => rows.filter((row) => row.column === column);
    expect(of('mpi').map(({ outcome }) => outcome)).toEqual(mpi);
    expect(of('gloo').map(({ outcome }) => outcome)).toEqual([
      ...['passed', 'passed', 'skipped', 'passed'],
    ]);
    const received = { allreduce: 3, allgather: 9, 'reduce-scatter': 3, broadcast: 2 };
    for (const row of rows.filter(({ against }) => against)) {
      // Before the rounds and after them, on every rank.
      const kind = kinds[row.bytes as keyof typeof kinds] as keyof typeof received;
      expect(row.checked).toEqual({ bytes: 2 * row.bytes! * received[kind], wrong: 0 });
      expect(row.samples).toHaveLength(15);
      const [{ column, ratio, interval } = expect.fail('no ratio')] = row.against!.ratios;
      expect(column).toBe('SinglePin');
      expect(ratio).toBeGreaterThanOrEqual(interval[0]);
      expect(ratio).toBeLessThanOrEqual(interval[1]);
    }
    expect(stdout).toMatch(/"library":\s*"Open MPI v/);
  });

  test('a library that is given other bytes than the plans move fails its row', async () => {
    using desk = new Desk();
    const given = 'against: ({ world, bytes }) => allToAllV(world, (a, b) => (a < b ? bytes : 0)),';
    const other = benchmark
      .replace(/against: .*/, given)
      .replace('import { allToAll,', 'import { allToAll, allToAllV,');
    writeFileSync(join(desk.folder, 'like-others.mjs'), other);
    const line = `run ./like-others.mjs --ranks 2 -b 4K -e 4K --against gloo ${quick} --format json`;
    const { exitCode, stdout, stderr } = await desk.weft(line);
    expect(exitCode, stderr).toBe(1);
    const [ours, gloo] = rowsOf(stdout);
    expect(ours!.outcome).toBe('passed');
    expect(gloo).toMatchObject({ column: 'gloo', outcome: 'failed', checked: { wrong: 0 } });
    expect(gloo!.reason).toBe('gloo was not given the bytes that SinglePin moves between ranks');
    expect(gloo!.against!.moved).not.toBe(gloo!.against!.ratios[0]!.moved);
  });

  test('the table says how Weft compares, and why a library was left out', async () => {
    using desk = new Desk();
    const line = `all2all -b 4K -e 4K ${quick} --against gloo,mpi`;
    const { exitCode, stdout } = await desk.weft(line, { PATH: '/usr/bin/nowhere' });
    expect(exitCode, stdout).toBe(0);
    expect(stdout).toMatch(/Size +Column +gloo \(gloo [\d.]+\)\n +4K +SinglePin +\d/);
    expect(stdout).toMatch(/skipped mpi: Weft started the ranks, but MPI needs its own launcher/);
  });

  test('a library that is not set up is skipped, and the benchmark runs', async () => {
    using desk = new Desk();
    const line = `all2all -b 4K -e 4K ${quick} --against gloo`;
    const { exitCode, stdout } = await desk.weft(line, { WEFT_PEERS: desk.folder });
    expect(exitCode, stdout).toBe(0);
    expect(stdout).toMatch(/skipped gloo: gloo is not set up here/);
  });

  test('a library that delivers wrong bytes fails its own row', async () => {
    using desk = new Desk();
    const line = `all2all -b 4K -e 4K ${quick} --against gloo --format json`;
    const { exitCode, stdout } = await desk.weft(line, withFault('peer:100'));
    expect(exitCode).toBe(1);
    const [ours, gloo] = rowsOf(stdout);
    expect(ours).toMatchObject({ column: 'SinglePin', outcome: 'passed' });
    expect(gloo).toMatchObject({ column: 'gloo', outcome: 'failed' });
    expect(gloo!.reason).toMatch(/on rank \d, byte 100 from rank \d is 0x/);
  });

  test('a signal that ends a job of mpirun is named', async () => {
    using desk = new Desk();
    const job = desk.start(
      'all2all -b 4K -e 4K --columns SinglePin --budget-ms 60000 --against mpi',
    );
    while (!existsSync(join(desk.folder, 'weft-results'))) await sleep(50);
    job.kill('SIGHUP');
    const { exitCode, stderr } = await job;
    expect(stderr).toMatch(/stopped by SIG(HUP|TERM)/);
    expect(exitCode).toBe(1);
  });

  test.each([
    ['write --against mpi', /--against has no effect on write/],
    ['all2all --against mpi --repeats 2', /--repeats and --against cannot be used together/],
    ['all2all --against ucx', /It must be gloo, mpi, nccl/],
    ['soak --for 1m -- all2all --against mpi', /--against has no effect on soak/],
  ])('%s', async (line, message) => {
    using desk = new Desk();
    const { exitCode, stderr } = await desk.weft(line);
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(2);
  });
});
