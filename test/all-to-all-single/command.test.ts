import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Run } from '../../src/results/schema.js';
import { Desk, withFault } from '../benchmarks/weft.js';

const small = '--msg-bytes 64K';
const jsonOf = (stdout: string): Run => JSON.parse(stdout) as Run;
const outcomes = ({ rows }: Run) => Object.fromEntries(rows.map((r) => [r.column, r.outcome]));

describe('weft all-to-all-single', () => {
  test('says what the script says, rank by rank, then the table', async () => {
    using desk = new Desk();
    const { exitCode, stdout } = await desk.weft(`all-to-all-single ${small} --backend fabric`);
    expect(exitCode, stdout).toBe(0);
    const stamp = String.raw`\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] `;
    for (const rank of [0, 1]) {
      const own = stdout.split('\n').filter((line) => line.includes(`Rank ${rank}`));
      const first = rank * 16384;
      const wanted = [
        `Rank ${rank}: Using (CPU device|CUDA device \\d+)`,
        `Rank ${rank}/2: Process group initialized`,
        `Rank ${rank}: Creating payload tensor with 32768 elements \\(0\\.13 MiB total, 16384 elems/msg = 0\\.06 MiB/msg\\)`,
        `Rank ${rank}: Starting all_to_all_single operation\\.\\.\\.`,
        `Rank ${rank}: all_to_all_single completed in \\d+\\.\\d\\d ms`,
        `Rank ${rank}: Verification - output_numel=32768 first_vals=\\[${first}\\.0, ${first + 1}\\.0, .*\\] last_vals=\\[.*, ${32768 + first + 16383}\\.0\\]`,
      ];
      expect(own.length).toBe(wanted.length);
      for (const [i, line] of wanted.entries()) {
        expect(own[i]).toMatch(new RegExp(`^${stamp}${line}$`));
      }
    }
    expect(stdout).toMatch(/Backend +Mean ms +Median ms +Min ms +algbw GB\/s +busbw GB\/s +x best/);
    expect(stdout).toMatch(/verified: .* none wrong/);
  });

  test.each([2, 3, 4])('fabric, gloo and mpi in one job of %d ranks', async (ranks) => {
    using desk = new Desk();
    const line = `all-to-all-single ${small} --ranks ${ranks} --iters 4 --backend fabric,gloo,mpi --format json`;
    const { exitCode, stdout, stderr } = await desk.weft(line);
    expect(exitCode, stderr).toBe(0);
    expect(stderr).toMatch(/ranks with mpirun\S*: the mpi backend needs Open MPI's launcher/);
    expect(stderr).toMatch(/Rank 1: all_to_all_single completed in .* \[mpi\]/);
    const run = jsonOf(stdout);
    expect(outcomes(run)).toEqual({ fabric: 'passed', gloo: 'passed', mpi: 'passed' });
    for (const row of run.rows) {
      expect(row.samples).toHaveLength(4);
      // The random pattern and every timed exchange: all bytes of all outputs.
      expect(row.checked).toEqual({ bytes: 5 * ranks * ranks * 65536, wrong: 0 });
      expect(row.algbwGBps).toBeCloseTo((ranks * 65536) / row.nanoseconds!.mean, 9);
      expect(row.busbwGBps).toBeCloseTo((row.algbwGBps! * (ranks - 1)) / ranks, 9);
      expect(row.perRank).toHaveLength(ranks);
    }
    expect(run.world.launcher).toBe('openmpi');
    expect(desk.runs()[0]!.run.rows).toHaveLength(3);
  });

  test.each(['float32', 'int32', 'int64'])('%s over gloo and the fabric', async (dtype) => {
    using desk = new Desk();
    const line = `all-to-all-single --msg-bytes 24 --dtype ${dtype} --backend gloo,fabric --format json`;
    const { exitCode, stdout, stderr } = await desk.weft(line);
    expect(exitCode, stderr).toBe(0);
    expect(outcomes(jsonOf(stdout))).toEqual({ fabric: 'passed', gloo: 'passed' });
  });

  test('blocks that begin nowhere near a cache line arrive as they are', async () => {
    using desk = new Desk();
    const line = 'all-to-all-single --msg-bytes 100004 --ranks 3 --backend fabric,gloo --quiet';
    const { exitCode, stdout } = await desk.weft(`${line} --provider tcp --channels 2 --chunk 7K`);
    expect(exitCode, stdout).toBe(0);
  });
});

describe('imbalance', () => {
  test("Zipf's law with every backend: what each rank sends and receives, and the bound", async () => {
    using desk = new Desk();
    const line = `all-to-all-single ${small} --imbalance zipf:1.2 --ranks 3 --backend fabric,gloo,mpi --line-rate 1000`;
    const { exitCode, stdout, stderr } = await desk.weft(line);
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toMatch(/rank 0 sends 192K, receives 3\d\d(\.\d)?K; rank 1 sends 192K/);
    expect(stdout).toMatch(/bound: \d/);
    expect(stdout).toMatch(/none wrong/);
  });

  test('a matrix with empty entries, a rank that sends nothing and one that receives nothing', async () => {
    using desk = new Desk();
    writeFileSync(`${desk.folder}/m.csv`, '0,0,0,0\n4K,8,0,12\n0,1M,4,0\n0,0,0,64\n');
    const line = 'all-to-all-single --matrix m.csv --backend fabric,gloo,mpi --format json --quiet';
    const { exitCode, stdout, stderr } = await desk.weft(line);
    expect(exitCode, stderr).toBe(0);
    const run = jsonOf(stdout);
    expect(outcomes(run)).toEqual({ fabric: 'passed', gloo: 'passed', mpi: 'passed' });
    expect(run.settings.sendBytes).toEqual([0, 4116, 1048580, 64]);
    expect(run.settings.receiveBytes).toEqual([4096, 1048584, 4, 76]);
    expect(run.rows.every(({ checked }) => checked.bytes === 2 * 1052760)).toBe(true);
  });

  test('--explain draws it and runs nothing', async () => {
    using desk = new Desk();
    const line = 'all-to-all-single --imbalance zipf:1 --ranks 3 --line-rate 100 --explain';
    const { exitCode, stdout } = await desk.weft(line);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/all-to-all matrix/);
    expect(stdout).toMatch(/bound/);
  });
});

describe('what is wrong is said', () => {
  test.each(['flip:1:777', 'drop:0'])('wrong data is found: %s', async (fault) => {
    using desk = new Desk();
    const line = `all-to-all-single ${small} --backend gloo,fabric --format json --quiet`;
    const { exitCode, stdout } = await desk.weft(line, withFault(fault));
    expect(exitCode).toBe(1);
    const run = jsonOf(stdout);
    expect(outcomes(run)).toEqual({ fabric: 'failed', gloo: 'passed' });
    const row = run.rows.find(({ column }) => column === 'fabric')!;
    expect(row.checked.wrong).toBeGreaterThan(0);
    expect(row.reason).toMatch(/on rank 1, element \d+ from rank 0 is \S+ instead of \S+/);
  });

  test.each([
    [
      '--msg-bytes 1001',
      /1001 is not a multiple of 4 bytes, the size of one float32\n.*1000 or 1004/,
    ],
    ['--ranks 1', /at least 2 ranks/],
    ['--ranks 1 --backend nccl,gloo', /at least 2 ranks/],
    ['--dtype float16', /It must be float32, int32 or int64/],
    ['--backend gloo,smoke', /It must be fabric, gloo, mpi, nccl/],
    ['--imbalance zipf:-1', /zipf:S with S of 0/],
    ['--matrix none.csv', /cannot read the matrix none\.csv/],
    ['--matrix bad.csv', /not square/],
    ['--matrix good.csv --ranks 3', /good\.csv is for 2 ranks, but this run has 3/],
    ['--matrix good.csv --msg-bytes 4', /--matrix already sets the bytes from each rank/],
    ['--iface nope0', /no interface with an address matches --iface: nope0/],
  ])('%s', async (options, message) => {
    using desk = new Desk();
    writeFileSync(`${desk.folder}/bad.csv`, '1,2\n3\n'.replaceAll(/\d/g, '4'));
    writeFileSync(`${desk.folder}/good.csv`, '0,4\n4,0\n');
    const { exitCode, stderr } = await desk.weft(`all-to-all-single ${options}`);
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(2);
  });

  test('a library that is not set up is skipped aloud, and alone it leaves nothing to run', async () => {
    using desk = new Desk();
    const without = { WEFT_PEERS: desk.folder };
    const line = `all-to-all-single ${small} --quiet --backend`;
    const both = await desk.weft(`${line} fabric,gloo`, without);
    expect(both.exitCode).toBe(0);
    expect(both.stdout).toMatch(
      /skipped gloo: gloo is not set up here: run `npm run setup bench` \(needs libgloo-dev\)/,
    );
    expect((await desk.weft(`${line} gloo`, without)).exitCode).toBe(3);
  });

  test('a fabric that libfabric does not offer is skipped, and the others run', async () => {
    using desk = new Desk();
    const line = `all-to-all-single ${small} --provider verbs --nics none0 --quiet --format json`;
    const both = await desk.weft(`${line} --backend fabric,gloo`);
    expect(both.exitCode, both.stderr).toBe(0);
    const run = jsonOf(both.stdout);
    expect(outcomes(run)).toEqual({ fabric: 'skipped', gloo: 'passed' });
    expect(run.rows.find(({ column }) => column === 'fabric')?.reason).toMatch(
      /no usable provider verbs/,
    );
    expect((await desk.weft(`${line} --backend fabric`)).exitCode).toBe(3);
  });
});
