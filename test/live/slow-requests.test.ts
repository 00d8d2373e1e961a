import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { finish, PageDesk, Viewer } from './desk.js';

const most = 64;
const crowd: Socket[] = [];
afterEach(() => {
  for (const socket of crowd.splice(0)) socket.destroy();
});

/** More connections than the page keeps, each of which has sent `text`, had its answer if there is one, and stays. */
async function crowdIn({ page }: PageDesk, text: string): Promise<void> {
  const isWhole = text.endsWith('\r\n\r\n');
  const more = Array.from({ length: 2 * most }, () => {
    const socket = connect(page.port, '127.0.0.1');
    crowd.push(socket.on('error', () => {}));
    return new Promise<void>((resolve) => {
      socket.once('data', () => resolve()).once('close', () => resolve());
      socket.write(text, () => isWhole || resolve());
    });
  });
  await Promise.all(more);
}

const host = 'GET / HTTP/1.1\r\nHost: localhost\r\n';

test.each([
  ['say nothing', ''],
  ['never end their request', `${host}X-Slow: `],
  ['never send the body they announce', `${host}Content-Length: 9\r\n\r\n`],
  ['have had their answer and stay', `${host}\r\n`],
])('too many connections that %s do not keep others from the page', async (_, text) => {
  await using desk = await PageDesk.open({ mostConnections: most });
  await crowdIn(desk, text);
  expect((await desk.get('/')).status).toBe(200);
});

test('too many silent connections do not cut off who follows a run', async () => {
  await using desk = await PageDesk.open({ mostConnections: most });
  using file = desk.begin('followed');
  using viewer = new Viewer(desk, '/api/runs/followed/events');
  await viewer.until(({ lines }) => lines.includes('header'));
  await crowdIn(desk, '');
  finish(file);
  await viewer.until(({ ended }) => ended !== undefined);
});
