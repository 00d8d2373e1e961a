import type { Secret } from './auth.js';
import type { Connection } from './connection.js';
import { Door } from './door.js';
import { frameBody } from './frames.js';
import { isLoopback } from './meeting.js';
import { linkSchema, type Reply } from './messages.js';

export interface RelayOptions {
  readonly rank: number;
  /** The ranks that may link. */
  readonly children: readonly number[];
  readonly secret: Secret;
  /** What rank 0 binds, or would. */
  readonly listenHosts: readonly string[];
}

/** Where a relay listens; without a host, at the address by which a rank knows rank 0. */
interface Offer {
  readonly host?: string;
  readonly port: number;
}

/**
 * Passes on to the ranks below this one what all ranks get, as it came. Its port is open while ranks join: rank 0
 * welcomes nobody before each rank has linked or has said that it cannot.
 */
export class Relay {
  readonly #children = new Map<number, Connection>();
  #door: Door | undefined;
  offer: Offer | undefined;

  /** Without an offer if no port can be opened: rank 0 serves the ranks below then, and says so. */
  static async open(options: RelayOptions, toRankZero: Connection): Promise<Relay> {
    const relay = new Relay();
    if (options.children.length === 0) return relay;
    const { local } = toRankZero;
    const { rank, secret, listenHosts } = options;
    // Beside rank 0, which others reach from elsewhere.
    const beside = local === undefined || (isLoopback(local) && !listenHosts.every(isLoopback));
    try {
      relay.#door = await Door.open({
        name: `relay ${rank}`,
        secret,
        meeting: {
          listenHosts: beside ? listenHosts : [local],
          connectHosts: [],
          ports: [0],
          listenFd: undefined,
        },
        expected: options.children.length,
        enter: (connection, first) => relay.#link(connection, first, options.children),
        refused: () => {},
      });
      const { port } = relay.#door.address;
      relay.offer = beside ? { port } : { host: local, port };
    } catch {
      // No offer says it.
    }
    return relay;
  }

  /** To be called with every message before this rank acts on it: it may leave then. */
  pass(reply: Reply, body: Buffer): void {
    if (reply.t === 'welcome') this.#door?.close();
    else if (!((reply.t === 'values' || reply.t === 'done') && reply.all)) return;
    if (this.#children.size === 0) return;
    const frames = frameBody(body);
    for (const child of this.#children.values()) child.sendEncoded(frames);
  }

  async close(): Promise<void> {
    this.#door?.close();
    await Promise.all(
      [...this.#children.values()].map((child) => {
        child.send({ t: 'bye' });
        return child.end();
      }),
    );
  }

  #link(connection: Connection, first: unknown, expected: readonly number[]): void {
    const { rank } = linkSchema.parse(first);
    if (!expected.includes(rank) || this.#children.has(rank)) throw new Error('it is not expected');
    this.#children.set(rank, connection);
    connection.handle({
      message: () => {
        throw new Error('a rank has nothing to say to a relay');
      },
      closed: () => this.#children.delete(rank),
    });
    connection.send({ t: 'linked' });
  }
}
