import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { gpuAvailability } from '../../src/gpu/gpu.js';
import { childrenOf, Desk, isAlive, withFault } from './weft.js';

// CPU threads take a GPU's place here; test/gpu has the same with kernels.
let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk[Symbol.dispose]());

// biome-ignore lint/suspicious/noExplicitAny: rows are looked at as a user's script would
const rowsOf = (stdout: string): any[] => JSON.parse(stdout).rows;

/** Kills rank 1 of a job in its middle: the job must end, name it, and leave nobody behind. */
async function endsWithoutRank1(started: ReturnType<Desk['start']>): Promise<void> {
  let ranks: number[] = [];
  while (ranks.length < 2) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    ranks = started.pid === undefined ? [] : childrenOf(started.pid);
  }
  await new Promise((resolve) => setTimeout(resolve, 1500));
  ranks = childrenOf(started.pid!);
  process.kill(ranks[1]!, 'SIGKILL');
  const { exitCode, stderr } = await started;
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/rank 1/);
  expect(ranks.filter(isAlive)).toEqual([]);
}

describe('weft queue', () => {
  const line = 'queue --producer cpu --budget-ms 20 --format json';

  test('counts pushes by threads, and accounts for every element', async () => {
    const { exitCode, stdout } = await desk.weft(`${line} --columns Push --grid 1,3 --block 1,8`);
    expect(exitCode).toBe(0);
    const rows = rowsOf(stdout);
    expect(rows).toHaveLength(4);
    for (const row of rows) {
      expect(row).toMatchObject({ kind: 'queue', outcome: 'passed', labels: { producer: 'cpu' } });
      expect(row.mops).toBeGreaterThan(0);
      expect(row.checked.bytes).toBeGreaterThan(row.iterations * 16 - 1);
      expect(row.checked.wrong).toBe(0);
    }
    expect(rows.map(({ labels }) => [labels.grid, labels.block])).toEqual([
      [1, 1],
      [1, 8],
      [3, 1],
      [3, 8],
    ]);
  });

  test('gives one-way time, round trip and the cost of an empty look', async () => {
    const measure = async () => {
      const { stdout } = await desk.weft(`${line} --columns OneWay,RoundTrip,EmptyPoll -n 2000`);
      return rowsOf(stdout);
    };
    const [oneWay, roundTrip, empty] = await measure();
    expect([oneWay.iterations, roundTrip.iterations]).toEqual([2000, 2000]);
    expect(oneWay.breakdown.clockUncertaintyNanoseconds).toBe(0);
    expect(empty.nanoseconds.mean).toBeGreaterThan(0);
    // Two threads may lie near each other in one row and far apart in the next: 55 ns one way, or 1500.
    let isShorter = false;
    for (let tries = 0; tries < 6 && !isShorter; tries++) {
      const [one, both] = tries === 0 ? [oneWay, roundTrip] : await measure();
      isShorter = one.nanoseconds.min < both.nanoseconds.min;
    }
    expect(isShorter).toBe(true);
  });

  test('skips aloud what only a GPU can do', async () => {
    const { stdout, exitCode } = await desk.weft(
      `${line} --columns PushReleased,PushDevice --grid 1`,
    );
    expect(rowsOf(stdout).map(({ outcome }) => outcome)).toEqual(Array(4).fill('skipped'));
    expect(exitCode).toBe(3);
  });

  test.each([
    ['drop-element:7', 'came instead of 7'],
    ['duplicate-element:7', 'element 6 came instead of 7'],
    ['flip-element:7', 'was never pushed'],
  ])('%s fails the row and the run', async (fault, reason) => {
    const { exitCode, stdout } = await desk.weft(
      `${line} --columns Push --grid 2 --block 1`,
      withFault(fault),
    );
    expect(exitCode).toBe(1);
    expect(rowsOf(stdout)[0]).toMatchObject({ outcome: 'failed' });
    expect(rowsOf(stdout)[0].reason).toContain(reason);
  });

  test.each([
    '--grid 0',
    '--grid 1,x',
    '--block 2000',
    '--capacity 100',
    '--producer tpu',
    '-b 32',
    '--columns Pull',
  ])('%s is bad usage', async (options) => {
    const { exitCode, stderr } = await desk.weft(`queue ${options}`);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/must be|no effect|has no column|more than/);
  });

  test('a GPU that is not there is named, and what to do without one', async ({ skip }) => {
    if (gpuAvailability().gpus.length > 0) skip('this machine has a GPU');
    const { exitCode, stderr } = await desk.weft('queue --producer gpu');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('--producer cpu');
  });
});

describe.each(['shm', 'tcp'])('weft proxy over %s', (provider) => {
  const line = `proxy --provider ${provider} --producer cpu --budget-ms 20 --format json`;

  test('has the CPU’s own writes beside the proxied, with the loss and where the time went', async () => {
    const { exitCode, stdout } = await desk.weft(`${line} -b 4K -e 64K -f 16 --channels 2`);
    expect(exitCode).toBe(0);
    const rows = rowsOf(stdout);
    expect(rows.slice(0, 6).map(({ column }) => column)).toEqual([
      'Single',
      'SingleBlocking',
      'SingleNBI',
      'Multi',
      'MultiBlocking',
      'MultiNBI',
    ]);
    for (const row of rows) {
      expect(row).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
      // Before and after, eight writes each.
      expect(row.checked.bytes).toBe(2 * 8 * row.bytes);
      const proxied = !['Single', 'Multi'].includes(row.column);
      expect(row.labels.producer).toBe(proxied ? 'cpu' : undefined);
      expect(row.lossPercent !== undefined).toBe(proxied);
      if (!proxied) continue;
      expect(row.breakdown.stages.map(({ name }: { name: string }) => name)).toEqual([
        'push → pop',
        'pop → post',
        'post → delivered',
        'delivered → seen',
      ]);
      for (const { p50 } of row.breakdown.stages) expect(p50).toBeGreaterThanOrEqual(0);
      expect(row.breakdown.requests).toBe(8 * Math.min(50, row.iterations));
    }
  });

  test('runs as many iterations as were asked for', async () => {
    const { stdout } = await desk.weft(`${line} -b 4K -e 4K -n 7`);
    expect(rowsOf(stdout).map(({ iterations }) => iterations)).toEqual(Array(6).fill(7));
  });

  test('serves several producers and peers', async () => {
    const options = '--ranks 4 -b 1000 -e 1000 --requests 7 --producers 3 --columns SingleNBI';
    const { exitCode, stdout } = await desk.weft(`${line} ${options}`);
    expect(exitCode).toBe(0);
    expect(rowsOf(stdout)[0]).toMatchObject({ outcome: 'passed', checked: { bytes: 14_000 } });
  });

  test('finds bytes that did not come', async () => {
    const { exitCode, stdout } = await desk.weft(
      `${line} -b 4K -e 4K --columns MultiNBI`,
      withFault('drop:0'),
    );
    expect(exitCode).toBe(1);
    expect(rowsOf(stdout)[0].outcome).toBe('failed');
    expect(rowsOf(stdout)[0].reason).toMatch(/bytes are wrong/);
  });

  test('ends when a rank is killed', async () => {
    const started = desk.start(
      `proxy --provider ${provider} --producer cpu -b 64K -e 64K --budget-ms 20000 --columns SingleNBI`,
    );
    await endsWithoutRank1(started);
  });
});

test('weft proxy in a table names the producers and the stages', async () => {
  const { stdout } = await desk.weft(
    'proxy --provider shm --producer cpu -b 4K -e 4K --budget-ms 20 --columns Single,SingleBlocking --verbose',
  );
  expect(stdout).toContain('Loss %');
  expect(stdout).toContain('CPU threads issue the requests');
  expect(stdout).toMatch(/SingleBlocking 4K: push → pop .* delivered → seen/);
});

test.each(['--requests 0', '--producers x', '--producer none', '--columns SingleDMA'])(
  'weft proxy %s is bad usage',
  async (options) => {
    expect((await desk.weft(`proxy ${options}`)).exitCode).toBe(2);
  },
);

describe('weft ipc', () => {
  const line = 'ipc --producer cpu --budget-ms 20 --format json -b 64K -e 64K';

  test('sweeps shapes over shared memory, verified, beside a copy', async () => {
    const { exitCode, stdout } = await desk.weft(`${line} --grid 1,2 --block 16,256`);
    expect(exitCode).toBe(0);
    const rows = rowsOf(stdout);
    expect(rows.map(({ column }) => column)).toEqual([...Array(4).fill('Kernel'), 'CopyEngine']);
    for (const row of rows) {
      expect(row).toMatchObject({
        kind: 'ipc',
        outcome: 'passed',
        labels: { producer: 'cpu', path: 'host memory' },
        checked: { bytes: 65_536, wrong: 0 },
      });
      expect(row.busbwPercent).toBeGreaterThan(0);
    }
  });

  test('a wrong byte is found', async () => {
    const { exitCode, stdout } = await desk.weft(
      `${line} --columns Kernel --grid 1`,
      withFault('landing:4242'),
    );
    expect(exitCode).toBe(1);
    expect(rowsOf(stdout)[0].reason).toContain('byte 4242');
  });

  test('ends when the rank that owns the memory is killed in the middle of a write', async () => {
    const started = desk.start(
      'ipc --producer cpu --columns Kernel --grid 1 -b 256M -e 256M -n 5000',
    );
    await endsWithoutRank1(started);
  });

  test.each(['-b 1000 -e 1000', '--grid 70000', '--ranks 1'])(
    '%s is bad usage',
    async (options) => {
      expect((await desk.weft(`ipc ${options}`)).exitCode).toBe(2);
    },
  );
});
