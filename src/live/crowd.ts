import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerType } from '@hono/node-server';

/**
 * Keeps a server at `most` connections. A new one takes the place of the one that has waited longest without a request
 * being answered on it, so connections that say nothing do not shut others out. It is closed itself only when requests
 * are being answered on all others.
 */
export function limitConnections(server: ServerType, most: number): void {
  /** Without a request, the oldest first. */
  const waiting = new Set<Socket>();
  let open = 0;
  server.on('connection', (socket: Socket) => {
    waiting.add(socket);
    open++;
    socket.once('close', () => {
      waiting.delete(socket);
      open--;
    });
    if (open <= most) return;
    const [oldest = socket] = waiting;
    waiting.delete(oldest);
    oldest.destroy();
  });
  server.on('request', ({ socket }: { socket: Socket }, response: ServerResponse) => {
    waiting.delete(socket);
    response.once('close', () => {
      if (!socket.destroyed) waiting.add(socket);
    });
  });
}
