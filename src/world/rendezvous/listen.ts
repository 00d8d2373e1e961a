import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { WeftError } from '../../errors.js';
import type { Meeting } from './meeting.js';

function tryListen(server: Server, options: { fd: number } | { host: string; port: number }) {
  server.listen({ ...options, backlog: 4096 });
  return once(server, 'listening');
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
const noSuchAddress = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL']);

/** Binds the first free port of the meeting. The caller owns the server. */
export async function listenAt(meeting: Meeting): Promise<Server> {
  const server = createServer();
  if (meeting.listenFd !== undefined) {
    await tryListen(server, { fd: meeting.listenFd });
    return server;
  }
  let cause: unknown;
  for (const port of meeting.ports) {
    for (const host of meeting.listenHosts) {
      try {
        await tryListen(server, { host, port });
        return server;
      } catch (error) {
        cause = error;
        if (codeOf(error) === 'EADDRINUSE') break; // the other family would only hide it
        if (!noSuchAddress.has(codeOf(error))) throw cannotListen(meeting, cause);
      }
    }
  }
  throw cannotListen(meeting, cause);
}

function cannotListen({ ports, listenHosts }: Meeting, cause: unknown): WeftError {
  const first = ports[0] ?? 0;
  const several = ports.length > 1;
  const range = several ? `ports ${first}…${ports.at(-1)}` : `port ${first}`;
  if (codeOf(cause) === 'EADDRINUSE') {
    return new WeftError(
      'PORT_IN_USE',
      `rank 0 cannot listen: ${range} on this host ${several ? 'are' : 'is'} in use`,
      {
        hint: 'Another job or program uses it. Choose another MASTER_PORT, or unset it if the launcher allows that.',
        cause,
      },
    );
  }
  const where = listenHosts.join(' or ');
  return new WeftError('RENDEZVOUS_FAILED', `rank 0 cannot listen on ${where}, ${range}`, {
    cause,
  });
}
