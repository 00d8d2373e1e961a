import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { p5Fabric } from '../../src/reference/p5-fabric.js';
import { p5Rows } from '../../src/reference/p5-rows.js';
import { readRun } from '../../src/results/read-run.js';
import type { Row, Run } from '../../src/results/schema.js';
import { Desk } from '../benchmarks/weft.js';

const timeout = 60_000;
const desk = new Desk();
const path = (name: string) => join(desk.folder, name);
afterAll(() => desk[Symbol.dispose]());

describe('weft predict', () => {
  test('prints tables that say they are predicted, one per node count, and draws charts', {
    timeout,
  }, async () => {
    const line =
      'predict all2all --fabric p5 --nodes 2..8 --bytes 1M..4M --columns MultiDMA -o p.svg';
    const { exitCode, stdout, stderr } = await desk.weft(line);
    expect(exitCode, stderr).toBe(0);
    expect(stdout.match(/PREDICTED, not measured · all2all · model p5/g)).toHaveLength(3);
    expect(stdout).toContain('8 ranks on 8 hosts');
    expect(stdout).not.toContain('verified');
    const svg = readFileSync(path('p.svg'), 'utf8');
    expect(svg).toContain('PREDICTED with the model p5');
    expect(svg).toContain('95 % intervals of the model');
  });

  test('JSON has the model in place of a fabric, and an interval for every row', {
    timeout,
  }, async () => {
    const line = 'predict write --nodes 2..4 --bytes 64M --columns MultiDMA --format json';
    const { stdout } = await desk.weft(line);
    const prediction = JSON.parse(stdout);
    expect(prediction).toMatchObject({
      schema: 'weft.prediction/1',
      benchmark: 'write',
      model: { name: 'p5', parameters: { nicGbps: p5Fabric.parameters.nicGbps } },
    });
    expect(prediction.fabric).toBeUndefined();
    expect(prediction.rows.map(({ nodes }: { nodes: number }) => nodes)).toEqual([2, 4]);
    const [row] = prediction.rows;
    expect(row.gbps).toBeCloseTo((64 * 2 ** 23) / row.nanoseconds.mean, 6);
    expect(row.interval[0]).toBeLessThan(row.nanoseconds.mean);
    expect(row.interval[1]).toBeGreaterThan(row.nanoseconds.mean);
    expect(Object.keys(row.nanoseconds)).toEqual(['mean']);
    expect(row.samples).toBeUndefined();
  });

  test('sizes double, whatever the step of the benchmark', { timeout }, async () => {
    const line = 'predict incast --bytes 1M..4M --columns SinglePin --format json';
    const { rows } = JSON.parse((await desk.weft(line)).stdout);
    expect(rows.map(({ bytes }: { bytes: number }) => bytes / 2 ** 20)).toEqual([1, 2, 4]);
  });

  test('says where hosts below a leaf are treated as alike', { timeout }, async () => {
    const sentence =
      'hosts below a leaf are treated as alike: times may differ by up to 5 % from a full simulation';
    const predicted = async (nodes: number, format: string) => {
      const line = `predict all2all --nodes ${nodes} --hosts-per-leaf ${nodes / 4} --bytes 1M`;
      return (await desk.weft(`${line} --columns MultiDMA --format ${format}`)).stdout;
    };
    expect((await predicted(1024, 'table')).replace(/\s+/g, ' ')).toContain(sentence);
    const json = async (nodes: number) => JSON.parse(await predicted(nodes, 'json'));
    expect(await json(1024)).toMatchObject({ notes: [sentence], rows: [{ hostsAlike: true }] });
    const exact = await json(8);
    expect(exact.notes).toEqual([]);
    expect(exact.rows[0]).not.toHaveProperty('hostsAlike');
  });

  test('a slow NIC shows', { timeout }, async () => {
    const timeOf = async (more: string[]) => {
      const args = ['predict', 'all2all', '--bytes', '32M', '--columns', 'SingleDMA'];
      const { stdout, stderr } = await desk.run([...args, '--format', 'json', ...more], {});
      expect(stderr).toBe('');
      return JSON.parse(String(stdout)).rows[0].nanoseconds.mean as number;
    };
    const ratio = (await timeOf(['--fault', 'host 3 nic 0 rate 50%'])) / (await timeOf([]));
    expect(ratio).toBeGreaterThan(1.9);
  });

  test('a workload takes its own options, and the lab any number of NICs', {
    timeout,
  }, async () => {
    const world = 'predict moe --fabric lab --nodes 8 --nics-per-rank 2 --format markdown';
    const layer = '--tokens 64 --hidden 1024 --columns DispatchMultiPin';
    const text = async (more: string) => (await desk.weft(`${world} ${layer} ${more}`)).stdout;
    const [even, uneven] = [await text(''), await text('--routing zipf:1.2')];
    for (const one of [even, uneven]) {
      expect(one).toContain('PREDICTED, not measured');
      expect(one).toContain('model lab');
      expect(one).toContain('8 ranks on 8 hosts');
      expect(one).toContain('2 channels of 0.1 Gbps');
    }
    expect(uneven).not.toBe(even);
  });

  test('a model without GPUs has columns in host memory only', { timeout }, async () => {
    const asked = '--nodes 2 --bytes 1M..1M --format json';
    const columns = async (fabric: string) =>
      JSON.parse((await desk.weft(`predict write --fabric ${fabric} ${asked}`)).stdout).rows.map(
        ({ column }: { column: string }) => column,
      );
    expect(await columns('lab')).toEqual(['SinglePin', 'MultiPin', 'RoundRobinPin']);
    expect(await columns('p5')).toContain('MultiDMA');
  });

  test.each([
    ['predict all2all --fabric p9', 'cannot read a fabric model from p9'],
    ['predict write --ranks-per-node 8', '--ranks-per-node has no effect on write'],
    ['predict all2all --switch-routing ecmp', 'need leaf switches'],
    ['predict all2all --nodes 8..2', 'The range must begin with the smaller value'],
    ['predict all2all --nodes 1023 --columns RoundRobinDMA', 'more than 600000 transfers'],
    ['predict all2all -o p.png', 'is neither a page nor a picture'],
    ['predict rate', 'rate cannot be predicted: the model p5 does not include the rate at which'],
    ['predict write --fabric lab --columns SingleDMA', 'the model lab has no GPUs'],
    ['predict victim --fabric lab', 'the model lab does not include queueing delays'],
  ])('%s is refused', { timeout }, async (line, message) => {
    const { exitCode, stderr } = await desk.weft(line);
    expect(stderr).toContain(message);
    expect(exitCode).toBe(2);
  });
});

describe('weft predict fit', () => {
  test('writes a model that predict takes, and names what does not fit', { timeout }, async () => {
    writeFileSync(path('p5.csv'), p5Rows);
    const fit = await desk.weft(
      'predict fit p5.csv --exchange-nodes 8 --also all2all:RoundRobinDMA:32M -o mine.json',
    );
    expect(fit.exitCode, fit.stderr).toBe(0);
    expect(fit.stdout).toMatch(/nicGbps +97\.45 +97\.19 to 97\.72/);
    expect(fit.stdout).toContain('rows: sendrecv SingleDMA 128K');
    expect(fit.stdout).toMatch(/write MultiDMA 4M .* predicted/);
    const { stdout } = await desk.weft('predict all2all --fabric mine.json --bytes 32M');
    expect(stdout).toContain('PREDICTED, not measured · all2all · model p5');
    const { exitCode, stderr } = await desk.weft('predict fit p5.csv --also all2all:MultiPin:4M');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('do not determine their parameters');
  });
});

describe('weft predict fit on run files', () => {
  /** A run in the lab, changed and written to a file. */
  function recorded(name: string, file: string, change: (run: Run) => Partial<Run> = () => ({})) {
    const { run } = readRun(join(import.meta.dirname, '../runner/advice-runs', `${name}.jsonl`));
    const { rows, errors, endedAt, outcome, ...head } = { ...run, id: file, ...change(run) };
    const lines = [
      { line: 'header', ...head },
      ...rows.map((row) => ({ line: 'row', ...row })),
      { line: 'footer', endedAt, outcome, errors },
    ];
    writeFileSync(path(file), lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
  }

  test('takes NICs, rates and chunks from the runs, and leaves out what it does not cover', {
    timeout,
  }, async () => {
    recorded('write', 'write.jsonl');
    recorded('all2all', 'chunks.jsonl', ({ settings }) => ({
      settings: { ...settings, chunkBytes: 65_536 },
    }));
    const inGpuMemory = (row: Row) => ({ ...row, column: row.column.replace('Pin', 'DMA') });
    recorded('all2all', 'here.jsonl', ({ world, fabric, settings, rows }) => ({
      world: { ...world, hosts: ['h0'], hostOfRank: world.hosts.map(() => 'h0') },
      fabric: { ...fabric, provider: 'shm' },
      settings: { ...settings, chunkBytes: 32_768 },
      rows: rows.map(inGpuMemory),
    }));
    recorded('write', 'staged.jsonl', ({ rows }) => ({
      rows: rows
        .map(inGpuMemory)
        .map((row) => ({ ...row, labels: { ...row.labels, memory: 'staged' } })),
    }));
    recorded('one-nic', 'one.jsonl');
    // The one that is not covered comes first: nothing is taken from it.
    const { exitCode, stdout, stderr } = await desk.weft(
      'predict fit here.jsonl write.jsonl chunks.jsonl staged.jsonl one.jsonl -o lab.json',
    );
    expect(exitCode, stderr).toBe(0);
    expect(stderr.trim().split('\n')).toEqual([
      'weft: here.jsonl is left out: all ranks were on one host, where no NIC is needed',
      'weft: chunks.jsonl is left out: its chunks are 64K, not 1M',
      expect.stringMatching(/^weft: \d+ rows of staged.jsonl left out: GPU memory was staged/),
      expect.stringMatching(
        /^weft: \d+ rows of one.jsonl left out: other runs use more than 1 NIC/,
      ),
    ]);
    expect(stdout).not.toContain('all2all');
    const model = JSON.parse(readFileSync(path('lab.json'), 'utf8'));
    expect(model).toMatchObject({ nicsPerRank: 2, lineRateGbps: 0.1, chunkBytes: 2 ** 20 });
    expect(model.gpus).toBe(false);
    expect(model.parameters.nicGbps).toBeCloseTo(0.1, 2);
  });

  test('refuses runs of two fabrics, and runs of which none can be used', { timeout }, async () => {
    recorded('write', 'slow.jsonl');
    const withRate = (file: string, lineRateGbps: number | null) =>
      recorded('write', file, ({ fabric }) => ({
        fabric: { ...fabric, channels: fabric.channels.map((one) => ({ ...one, lineRateGbps })) },
      }));
    withRate('fast.jsonl', 0.2);
    withRate('unknown.jsonl', null);
    const mixed = await desk.weft('predict fit slow.jsonl fast.jsonl unknown.jsonl');
    expect(mixed.exitCode).toBe(2);
    expect(mixed.stderr).toContain(
      'different fabrics: tcp;ofi_rxm at 0.1 Gbps; tcp;ofi_rxm at 0.2 Gbps; tcp;ofi_rxm at an unknown rate\n',
    );
    recorded('write', 'shared.jsonl', ({ rows, world }) => ({
      world: { ...world, hosts: ['h0', 'h1'], hostOfRank: ['h0', 'h0', 'h1', 'h1'] },
      rows: rows.map((row) => ({ ...row, path: undefined })),
    }));
    const shared = await desk.weft('predict fit shared.jsonl');
    expect(shared.exitCode).toBe(2);
    expect(shared.stderr).toContain('it does not say whether ranks of one host share NICs');
  });
});

test('weft advise answers with predicted times and a map', { timeout }, async () => {
  const { stdout } = await desk.weft('advise --fabric p5 --buffers 3 --bytes 1G');
  expect(stdout).toContain('Use split for 3 buffers of 1G');
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    'With buffers of 1G: split for 1 to 7, 9 to 11 and 13 to 15 buffers; round-robin for 8, 12 and 16 buffers.',
  );
  expect(stdout).toContain('PREDICTED with the model p5, not measured');
  const json = async (buffers: number) =>
    JSON.parse((await desk.weft(`advise --buffers ${buffers} --format json`)).stdout);
  expect(await json(3)).toMatchObject({ schema: 'weft.advice/1', best: 'split', buffers: 3 });
  // Round-robin at 16 and at 20, with nothing known between: that is no change.
  const { best, flips } = await json(20);
  expect(best).toBe('round-robin');
  expect(flips.at(-1)).toMatchObject({ over: 'buffers', after: 15, from: 16 });
});
