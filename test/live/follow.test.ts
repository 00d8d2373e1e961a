import { appendFileSync, readFileSync, renameSync, truncateSync, utimesSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { streamOf } from '../../src/live/events.js';
import { describeCost } from '../../src/live/follow-cost.js';
import { evenRanks, mostSamples, RunBatches } from '../../src/live/run-batches.js';
import { finish, PageDesk, row, token, Viewer } from './desk.js';

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

test('two hundred viewers all get everything', async () => {
  await using desk = await PageDesk.open();
  const file = desk.begin('live');
  const viewers = Array.from({ length: 200 }, () => new Viewer(desk, '/api/runs/live/events'));
  await Promise.all(viewers.map((one) => one.until(({ lines }) => lines.length === 1)));
  const sizes = [64, 128, 256, 512, 1024];
  for (const bytes of sizes) file.append(row(bytes));
  finish(file);
  await Promise.all(viewers.map(({ closed }) => closed));
  for (const { lines, ended } of viewers) {
    expect(lines).toEqual(['header', ...sizes.map((bytes) => `row ${bytes}`), 'footer']);
    expect(ended).toEqual({ state: 'passed' });
  }
});

test('a viewer that does not read holds back neither the others nor memory', async () => {
  await using desk = await PageDesk.open();
  const samples = Array.from({ length: mostSamples }, (_, i) => 50_000 + i);
  // Far more than sockets hold on their own.
  const rows = Array.from({ length: 10_000 }, (_, i) => ({ ...row(64 * (i + 1)), samples }));
  desk.finished('big', rows);
  const pulled = countPulled();
  const stuck = Array.from({ length: 5 }, () => {
    const socket = connect(desk.page.port, '127.0.0.1').pause();
    socket.write(
      `GET /api/runs/big/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    return socket;
  });
  for (let before = -1; pulled.lines !== before || before === 0; await sleep(500)) {
    before = pulled.lines;
  }
  const all = rows.length + 2;
  expect(pulled.lines).toBeLessThan((stuck.length * all) / 2);
  const held = pulled.lines;
  using viewer = new Viewer(desk, '/api/runs/big/events');
  await viewer.closed;
  expect(viewer.lines).toHaveLength(all);
  expect(pulled.lines).toBe(held + all);
  for (const socket of stuck) socket.destroy();
}, 120_000);

/** Lines that the server has taken from run files for viewers from now on. */
function countPulled(): { lines: number } {
  const pulled = { lines: 0 };
  const { after } = RunBatches.prototype;
  const spy = vi.spyOn(RunBatches.prototype, 'after').mockImplementation(async function (
    this: RunBatches,
    from,
  ) {
    const batch = await after.call(this, from);
    if (batch !== undefined) pulled.lines += batch.next - from;
    return batch;
  });
  onTestFinished(() => spy.mockRestore());
  return pulled;
}

test('asking for the head of a stream follows nothing', async () => {
  await using desk = await PageDesk.open();
  const file = desk.begin('live');
  expect(await desk.get('/api/runs/live/events', {}, 'HEAD')).toMatchObject({ status: 200 });
  expect(await desk.get('/api/runs/events', {}, 'HEAD')).toMatchObject({ status: 200 });
  expect(desk.page.cost.viewers).toBe(0);
  file.close();
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

test('who left costs nothing more', async () => {
  await using desk = await PageDesk.open();
  const file = desk.begin('live');
  const viewer = new Viewer(desk, '/api/runs/live/events');
  await viewer.until(({ lines }) => lines.length === 1);
  expect(desk.page.cost.viewers).toBe(1);
  viewer[Symbol.dispose]();
  while (desk.page.cost.viewers > 0) await sleep(10);
  file.close();
});

test('the cost of following is counted per row', async () => {
  await using desk = await PageDesk.open();
  const file = desk.begin('live');
  using viewer = new Viewer(desk, '/api/runs/live/events');
  await viewer.until(({ lines }) => lines.length === 1);
  for (const bytes of [64, 128]) file.append(row(bytes));
  await viewer.until(({ lines }) => lines.length === 3);
  finish(file);
  const cost = await desk.page.close(2000);
  expect(cost).toMatchObject({ rows: 2, mostViewers: 1 });
  expect(cost!.cpuSecondsPerRow).toBeCloseTo(cost!.cpuSeconds / 2, 10);
  expect(cost!.cpuSeconds).toBeGreaterThan(0);
  expect(describeCost(cost!)).toMatch(
    /^2 rows shown to up to 1 viewer, using .* CPU seconds \(.* per row\)$/,
  );
  expect(viewer.ended).toEqual({ state: 'passed' });
  await desk.serve();
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
