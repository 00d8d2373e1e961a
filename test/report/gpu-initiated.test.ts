// Charts and answers of queue, proxy and IPC.
import { describe, expect, test } from 'vitest';
import { answerOf } from '../../src/report/answer.js';
import { chartsOf } from '../../src/report/charts.js';
import { renderReport } from '../../src/report/html.js';
import type { Run } from '../../src/results/schema.js';
import { axisOf, chart, linesIn, seriesOf } from './drawn.js';
import * as gpu from './gpu-fixtures.js';

const idsOf = (run: Run) => chartsOf([run]).map(({ id }) => id);

describe('charts', () => {
  test('proxy blocking against NBI, as shares of the CPU-initiated transfer', () => {
    const drawn = chart([gpu.proxyRun()], 'proxy');
    const lines = linesIn(drawn);
    expect(lines.map(({ name }) => name)).toEqual([
      'SingleBlocking',
      'SingleNBI',
      'MultiBlocking',
      'MultiNBI',
    ]);
    const [blocking, nbi] = lines;
    expect(blocking!.data[0]![1]).toBeLessThan(80);
    expect(nbi!.data[0]![1]).toBeGreaterThan(95);
  });

  test('where the time of a request goes, size by size', () => {
    const ids = idsOf(gpu.proxyRun()).filter((id) => id.startsWith('stages'));
    expect(ids).toEqual(['stages', 'stages-2', 'stages-3', 'stages-4']);
    const drawn = chart([gpu.proxyRun()], 'stages');
    expect(drawn.title).toContain('SingleBlocking');
    expect(drawn.summary).toContain('8M: push → pop 1 us');
    const stages = seriesOf(drawn);
    expect(stages.map(({ name }) => name)).toEqual([
      'push → pop',
      'post → delivered',
      'delivered → seen',
    ]);
    const whole = stages.reduce((sum, { data }) => sum + data[0]![1]!, 0);
    expect(whole).toBeCloseTo(100, 1);
  });

  test('IPC by grid', () => {
    const drawn = chart([gpu.ipcRun()], 'grid');
    const [first] = linesIn(drawn);
    expect(first!.name).toBe('Kernel, 256 threads');
    expect(first!.data.map(([grid]) => grid)).toEqual([1, 4, 16, 64, 128]);
    expect(first!.data.at(-1)![1]).toBeGreaterThan(5 * first!.data[0]![1]!);
  });

  test('pushes per second by grid', () => {
    const drawn = chart([gpu.queueRun()], 'mops');
    expect(linesIn(drawn).map(({ name }) => name)).toEqual([
      'Push, 1 thread',
      'Push, 32 threads',
      'PushReleased, 1 thread',
      'PushReleased, 32 threads',
    ]);
    expect(axisOf(drawn, 'yAxis').axisLabel.formatter).toBe('@mops');
  });

  test.each([
    ['ipc', gpu.ipcRun(), ['Kernel 128×1024', 'CopyEngine']],
    ['queue', gpu.queueRun(), ['Push 8×32', 'PushReleased 8×32', 'RoundTrip']],
  ])('of the shapes of %s, the fastest stands for all, and the chart says so', (_, run, names) => {
    const drawn = chart([run], 'distribution');
    expect(linesIn(drawn).map(({ name }) => name)).toEqual(names);
    expect(drawn.caption).toContain('fastest at the largest size');
  });

  test('a share of a path’s peak is not called one of the line', () => {
    expect(chart([gpu.ipcRun()], 'busbw').title).toBe('Share of the path’s peak by size');
    expect(JSON.stringify(chart([gpu.ipcRun()], 'bandwidth').option)).not.toContain('line rate');
  });

  test('of a sweep over blocks alone: the table has the other shapes, and no chart is named', () => {
    const run = gpu.ipcRun();
    const shapes = [32, 64, 96, 128, 256, 512, 768, 1024];
    const rows = shapes.flatMap((block, i) =>
      run.rows
        .filter(({ labels }) => labels.grid === 128 && labels.block === 256)
        .map((row) => ({
          ...row,
          labels: { ...row.labels, block },
          nanoseconds: { ...row.nanoseconds!, mean: row.nanoseconds!.mean * (9 - i) },
        })),
    );
    const copies = run.rows.filter(({ column }) => column === 'CopyEngine');
    const swept = { ...run, rows: [...rows, ...copies] };
    expect(idsOf(swept)).not.toContain('grid');
    const drawn = chart([swept], 'bandwidth');
    expect(drawn.caption).toContain('the table lists all shapes');
    expect(linesIn(drawn).map(({ name }) => name)).toEqual(['Kernel 128×1024', 'CopyEngine']);
  });

  test('say how well two clocks are known', () => {
    expect(chart([gpu.proxyRun()], 'stages').caption).toContain('± 900 ns');
  });
});

describe('the answer', () => {
  test('names the shape, and the path’s peak', () => {
    expect(answerOf([gpu.queueRun()]).headline).toMatch(/Mops\/s with Push\w* 8×32\.$/);
    expect(answerOf([gpu.ipcRun()]).headline).toMatch(/with Kernel 128×1024 .* of its path’s peak/);
  });

  test('for a proxy is what asking costs; the stages of a request are left to the charts', () => {
    const { headline, points } = answerOf([gpu.proxyRun()]);
    expect(headline).toMatch(
      /NBI reaches \d+ to \d+ %, blocking \d+ to \d+ % of the rate of CPU-initiated writes\.$/,
    );
    expect(points.map(({ text }) => text).join()).not.toContain('push → pop');
  });
});

test('the table tells lines of one size apart by the kernel’s shape', () => {
  expect(renderReport([gpu.ipcRun()])).toContain('128×1024</td>');
});
