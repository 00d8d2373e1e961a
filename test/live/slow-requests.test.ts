import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { PageDesk } from './desk.js';

test('requests that never end do not keep others from the page', async () => {
  await using desk = await PageDesk.open();
  const slow = await Promise.all(
    Array.from(
      { length: 200 },
      () =>
        new Promise<Socket>((resolve) => {
          const socket = connect(desk.page.port, '127.0.0.1', () => resolve(socket));
          socket.on('error', () => {});
          socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
        }),
    ),
  );
  expect((await desk.get('/')).status).toBe(200);
  for (const socket of slow) socket.destroy();
});
