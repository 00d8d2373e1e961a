import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { describeCost } from '../../src/live/follow-cost.js';
import { mostSamples, RunBatches } from '../../src/live/run-batches.js';
import { finish, PageDesk, row, token, Viewer } from './desk.js';

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
