import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Row, runSchema } from '../../src/results/schema.js';
import { childrenOf, Desk, isAlive, withFault } from '../benchmarks/weft.js';

type Env = Record<string, string>;

const dma = { sendrecv: 'SingleDMA', write: 'SingleDMA,MultiDMA,RoundRobinDMA' } as const;
const columnsOf = (id: string): string => (id === 'sendrecv' ? dma.sendrecv : dma.write);
const benchmarks = ['sendrecv', 'write', 'all2all'];
const one = '-b 300K -e 300K --budget-ms 20 --chunk 64K';

const moeColumns = (...variants: string[]): string[] =>
  variants.flatMap((variant) =>
    ['Single', 'Multi', 'RoundRobin'].map((strategy) => `${variant}${strategy}DMA`),
  );

export async function rowsOf(desk: Desk, line: string, env: Env): Promise<Row[]> {
  const { exitCode, stdout, stderr } = await desk.weft(`${line} --format json`, env);
  expect(exitCode, stderr).toBe(0);
  return runSchema.parse(JSON.parse(stdout)).rows;
}

/** What holds for DMA columns on any GPU; the ranks of a host share it. */
export function describeDmaColumns(env: Env, providers: readonly string[]): void {
  const cases = providers.flatMap((provider) => benchmarks.map((id) => ({ provider, id })));

  test.each(cases)('$id over $provider: every byte of every DMA column', async (one) => {
    using desk = new Desk();
    const sizes = '-b 1K -e 5M -f 70 --budget-ms 20';
    const rows = await rowsOf(
      desk,
      `${one.id} ${sizes} --columns ${columnsOf(one.id)} --ranks 3 --channels 2 --provider ${one.provider}`,
      env,
    );
    expect(rows).toHaveLength(3 * columnsOf(one.id).split(',').length);
    for (const row of rows) {
      expect(row).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
      expect(row.checked.bytes).toBeGreaterThanOrEqual(2 * 2 * row.bytes!);
      const { memory, stagedBecause } = row.labels;
      expect(['staged', 'direct']).toContain(memory);
      expect(stagedBecause !== undefined).toBe(memory === 'staged');
    }
  });

  test.each(providers)(
    'moe over %s: every token and every sum, in every DMA column',
    async (provider) => {
      using desk = new Desk();
      const columns = moeColumns('Dispatch', 'Combine', 'Both');
      const shape =
        '--hidden 64 --experts 6 --top-k 3 --tokens 9,40 --routing hot:1:0.7 --micro-batches 2';
      const rows = await rowsOf(
        desk,
        `moe ${shape} --columns ${columns} --ranks 3 --channels 2 --budget-ms 10 --provider ${provider}`,
        env,
      );
      expect(rows).toHaveLength(2 * columns.length);
      for (const row of rows)
        expect(row).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
    },
  );

  test.each(providers)(
    'kv over %s: every page that is pushed, in every DMA column',
    async (provider) => {
      using desk = new Desk();
      const shape = '--requests 3 --layers 2 --pages 5 -b 4K -e 64K -f 16';
      const columns = ['Multi', 'RoundRobin'].map((strategy) => `Push${strategy}DMA`);
      const rows = await rowsOf(
        desk,
        `kv ${shape} --columns ${columns} --ranks 3 --channels 2 --budget-ms 10 --provider ${provider}`,
        env,
      );
      expect(rows).toHaveLength(2 * columns.length);
      for (const row of rows)
        expect(row).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
    },
  );

  test.each(providers)(
    'over %s: the sums of collectives, in every DMA column',
    async (provider) => {
      using desk = new Desk();
      const collectives = [
        'allreduce --algorithm ring --dtype bfloat16',
        'allreduce --algorithm direct',
        'reduce-scatter --algorithm ring --dtype float16',
      ];
      for (const line of collectives) {
        const how = '-b 12K -e 3M -f 256 --columns SingleDMA,MultiDMA --ranks 3 --channels 2';
        const all = `${line} ${how} --budget-ms 10 --provider ${provider}`;
        const rows = await rowsOf(desk, all, env);
        expect(rows).toHaveLength(4);
        for (const row of rows)
          expect(row).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
      }
    },
  );

  test('whole numbers are not added on a GPU: the row says so', async () => {
    using desk = new Desk();
    const line = 'allreduce --dtype int32 -b 4K -e 4K --ranks 2 --columns SinglePin,SingleDMA';
    const rows = await rowsOf(desk, line, env);
    expect(rows.map(({ outcome }) => outcome)).toEqual(['passed', 'skipped']);
    expect(rows[1]!.reason).toBe('GPUs add floating-point numbers only');
  });

  test.each([
    // Each token has an expert on both ranks: the sums follow 1024 bytes of vectors that came back.
    ['flip:1:1500', /on rank 1, byte 1500 of the sums is/],
    ['drop:0', /on rank 1, byte \d+ of the sums is/],
  ])('moe finds what %s does to sums on the GPU', async (fault, message) => {
    using desk = new Desk();
    const line = 'moe --hidden 64 --experts 2 --top-k 2 --tokens 8 --budget-ms 10 --format json';
    const { exitCode, stdout } = await desk.weft(`${line} --ranks 2 --columns CombineSingleDMA`, {
      ...env,
      ...withFault(fault),
    });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout).rows[0].reason).toMatch(message);
  });

  test.each(benchmarks)('%s finds and names a byte that changed on the GPU', async (id) => {
    using desk = new Desk();
    const line = `${id} ${one} --columns ${columnsOf(id).split(',').at(-1)} --channels 2`;
    const fault = { ...env, ...withFault('flip:1:200777') };
    const { exitCode, stdout } = await desk.weft(`${line} --format json`, fault);
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout).rows[0].reason).toMatch(
      /on rank 1, byte 200777 from rank 0 is 0x\w\w instead of 0x\w\w/,
    );
  });

  test.each(['write', 'all2all'])('%s finds GPU memory that was never written', async (id) => {
    using desk = new Desk();
    const line = `${id} ${one} --columns SingleDMA --format json`;
    const { exitCode, stdout } = await desk.weft(line, { ...env, ...withFault('drop:0') });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout).rows[0].checked.wrong).toBeGreaterThan(300_000);
  });

  test('a rank that is killed ends the job', async () => {
    using desk = new Desk();
    const job = desk.start('write -b 4K -e 8M --ranks 2 --columns SingleDMA --budget-ms 400', env);
    await desk.rowsIn(2);
    const pids = childrenOf(job.pid!);
    process.kill(pids.at(-1)!, 'SIGKILL');
    const { exitCode, stderr } = await job;
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/rank 1 was killed by SIGKILL/);
    await sleep(100);
    for (const pid of pids) expect(isAlive(pid)).toBe(false);
  });

  test('a GPU that is not there is bad usage', async () => {
    using desk = new Desk();
    const { stderr, exitCode } = await desk.weft(`write ${one} --columns SingleDMA --gpu 99`, env);
    expect(exitCode).toBeGreaterThan(0);
    expect(stderr).toMatch(/no GPU 99/);
  });
}
