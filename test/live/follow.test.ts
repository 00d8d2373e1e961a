import { appendFileSync, readFileSync, renameSync, truncateSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { streamOf } from '../../src/live/events.js';
import { evenRanks, mostSamples } from '../../src/live/run-batches.js';
import { finish, PageDesk, row, Viewer } from './desk.js';

describe('a viewer of a run', () => {
  test('gets what there is, what comes, and the end', async () => {
    await using desk = await PageDesk.open();
    const file = desk.begin('live');
    file.append(row(64));
    using viewer = new Viewer(desk, '/api/runs/live/events');
    await viewer.until(({ lines }) => lines.length === 2);
    file.append(row(128));
    await viewer.until(({ lines }) => lines.length === 3);
    finish(file);
    await viewer.closed;
    expect(viewer.lines).toEqual(['header', 'row 64', 'row 128', 'footer']);
    expect(viewer.ended).toEqual({ state: 'passed' });
  });

  test('goes on where it was after a lost connection', async () => {
    await using desk = await PageDesk.open();
    const file = desk.begin('live');
    for (const bytes of [64, 128]) file.append(row(bytes));
    const first = new Viewer(desk, '/api/runs/live/events');
    await first.until(({ lines }) => lines.length === 3);
    first[Symbol.dispose]();
    file.append(row(256));
    const { port } = desk.page;
    await desk.page.close();
    await desk.serve({ port });
    using second = new Viewer(desk, '/api/runs/live/events', first.events.at(-1)!.id);
    await second.until(({ lines }) => lines.length === 1);
    finish(file);
    await second.closed;
    expect(second.lines).toEqual(['row 256', 'footer']);
    expect(second.events.map(({ event }) => event)).not.toContain('reset');
  });

  test.each(['nonsense', 'abcdef:3', ':', '-1:-1'])(
    'starts anew when it comes with "%s"',
    async (id) => {
      await using desk = await PageDesk.open();
      desk.finished('done', [row(64)]);
      using viewer = new Viewer(desk, '/api/runs/done/events', id);
      await viewer.closed;
      expect(viewer.events[0]!.event).toBe('reset');
      expect(viewer.lines).toEqual(['header', 'row 64', 'footer']);
    },
  );

  test('starts anew when the file is cut', async () => {
    await using desk = await PageDesk.open();
    const file = desk.begin('cut');
    for (const bytes of [64, 128]) file.append(row(bytes));
    using viewer = new Viewer(desk, '/api/runs/cut/events');
    await viewer.until(({ lines }) => lines.length === 3);
    const [head, first] = readFileSync(file.path, 'utf8').split('\n');
    truncateSync(file.path, Buffer.byteLength(`${head}\n${first}\n`));
    await viewer.until(
      ({ events, lines }) => events.some((e) => e.event === 'reset') && lines.length === 2,
    );
    expect(viewer.lines).toEqual(['header', 'row 64']);
    file.close();
  });

  test('starts anew when the file is replaced', async () => {
    await using desk = await PageDesk.open();
    const file = desk.begin('old');
    file.append(row(64));
    using viewer = new Viewer(desk, '/api/runs/old/events');
    await viewer.until(({ lines }) => lines.length === 2);
    desk.finished('new', [row(4096)]);
    renameSync(join(desk.folder, 'new.jsonl'), file.path);
    await viewer.closed;
    expect(viewer.lines).toEqual(['header', 'row 4096', 'footer']);
    file.close();
  });

  test('is told of a damaged line', async () => {
    await using desk = await PageDesk.open();
    const file = desk.begin('bad');
    file.append(row(64));
    using viewer = new Viewer(desk, '/api/runs/bad/events');
    await viewer.until(({ lines }) => lines.length === 2);
    appendFileSync(file.path, '{"line":"row","column":1}\n');
    await viewer.closed;
    expect(viewer.ended).toEqual({ state: 'aborted', problem: 'damaged at line 3' });
    file.close();
  });

  test('is told when the file goes away', async () => {
    await using desk = await PageDesk.open();
    const file = desk.begin('gone');
    using viewer = new Viewer(desk, '/api/runs/gone/events');
    await viewer.until(({ lines }) => lines.length === 1);
    renameSync(file.path, `${desk.folder}-elsewhere.jsonl`);
    await viewer.closed;
    expect(viewer.ended).toMatchObject({ problem: 'the file was removed' });
    file.close();
    renameSync(`${desk.folder}-elsewhere.jsonl`, file.path);
  });

  test('goes on listening when its writer seems gone', async () => {
    await using desk = await PageDesk.open();
    const file = desk.begin('remote');
    file.append(row(64));
    file.close();
    utimesSync(file.path, 1e9, 1e9);
    await desk.get('/api/runs');
    using viewer = new Viewer(desk, '/api/runs/remote/events');
    const states = () =>
      viewer.events.filter(({ event }) => event === 'state').map(({ data }) => data);
    await viewer.until(() => states().length === 1);
    expect(states()).toEqual([{ state: 'aborted' }]);
    appendFileSync(file.path, `${JSON.stringify({ line: 'row', ...row(128) })}\n`);
    await viewer.until(() => states().length === 2);
    expect(viewer.lines).toEqual(['header', 'row 64', 'row 128']);
    expect(states()[1]).toEqual({ state: 'running' });
    expect(viewer.ended).toBeUndefined();
  });

  test('gets half a line only when it is whole', async () => {
    await using desk = await PageDesk.open();
    const file = desk.begin('slow');
    using viewer = new Viewer(desk, '/api/runs/slow/events');
    await viewer.until(({ lines }) => lines.length === 1);
    const line = `${JSON.stringify({ line: 'row', ...row(64) })}\n`;
    appendFileSync(file.path, line.slice(0, 100));
    await sleep(200);
    expect(viewer.lines).toEqual(['header']);
    appendFileSync(file.path, line.slice(100));
    await viewer.until(({ lines }) => lines.length === 2);
    file.close();
  });
});

test('a stream that fails lets go of what it held', async () => {
  let held = 0;
  const begin = () => {
    held++;
    return () => void held--;
  };
  // biome-ignore lint/correctness/useYield: it fails before it has anything to say.
  async function* failing(): AsyncGenerator<string> {
    throw new Error('no more files');
  }
  const stream = streamOf(failing, begin, new AbortController().signal);
  await expect(stream.getReader().read()).rejects.toThrow('no more files');
  expect(held).toBe(0);
});

test('many samples are thinned to even ranks, with their smallest and largest', () => {
  const samples = Array.from({ length: 4001 }, (_, i) => (i * 1789) % 4001);
  const thin = evenRanks(samples, mostSamples);
  expect(thin).toHaveLength(mostSamples);
  expect([thin[0], thin.at(-1)]).toEqual([0, 4000]);
  for (const [i, value] of thin.entries()) {
    expect(Math.abs(value - (i * 4000) / (mostSamples - 1))).toBeLessThanOrEqual(0.5);
  }
});

test('a row reaches the page with its samples thinned', async () => {
  await using desk = await PageDesk.open();
  const samples = Array.from({ length: 5000 }, (_, i) => 1000 + i);
  desk.finished('many', [{ ...row(64), samples }]);
  using viewer = new Viewer(desk, '/api/runs/many/events');
  await viewer.closed;
  const { lines } = viewer.events[0]!.data as { lines: { samples?: number[] }[] };
  expect(lines[1]!.samples).toHaveLength(mostSamples);
});
