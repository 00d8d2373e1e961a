import { messageOf } from '../../errors.js';
import type { Secret } from './auth.js';
import type { Connection } from './connection.js';
import { linkedSchema, type Reply, relayedSchema } from './messages.js';
import { knock } from './reach.js';

/** Ranks wait for each other's links: a closed port may cost each job this much, and no more. */
const linkMs = 5000;

interface UplinkOptions {
  readonly rank: number;
  readonly secret: Secret;
  readonly toRankZero: Connection;
  heard(reply: Reply, body: Buffer): void;
}

type Parent = Extract<Reply, { t: 'parent' }>;

/** A rank's link to the relay that rank 0 named. Where there is none, or none any more, rank 0 is told. */
export class Uplink {
  readonly #options: UplinkOptions;
  #link: Connection | undefined;
  /** Rank 0 has named a relay. */
  followed = false;
  #closed = false;

  constructor(options: UplinkOptions) {
    this.#options = options;
  }

  async follow(parent: Parent): Promise<void> {
    if (this.followed) return;
    this.followed = true;
    try {
      const link = await this.#reach(parent);
      if (this.#closed) {
        link.destroy();
        return;
      }
      this.#link = link;
      this.#options.toRankZero.send({ t: 'relayed' });
      link.handle({
        message: (message, body) => this.#hear(relayedSchema.parse(message), body),
        closed: (error) => this.#direct(error?.message ?? 'its connection closed unexpectedly'),
      });
    } catch (error) {
      this.#direct(messageOf(error));
    }
  }

  /** From now on nothing is heard or told. */
  close(): void {
    this.#closed = true;
    this.#link?.destroy();
  }

  async #reach({ rank, host, port }: Parent): Promise<Connection> {
    const { secret, toRankZero } = this.#options;
    const deadlineMs = performance.now() + linkMs;
    const address = { host: host ?? toRankZero.peer, port, door: `relay ${rank}` as const };
    const link = await knock(address, secret, { connectMs: linkMs / 2, helloMs: linkMs / 2 });
    try {
      link.send({ t: 'link', rank: this.#options.rank });
      const answer = await link.receive(Math.max(1, deadlineMs - performance.now()));
      if (!linkedSchema.safeParse(answer).success) throw new Error('it does not answer as a relay');
      return link;
    } catch (error) {
      link.destroy();
      throw error;
    }
  }

  #hear(reply: Reply, body: Buffer): void {
    if (this.#closed) return;
    if (reply.t === 'bye') this.#direct();
    else this.#options.heard(reply, body);
  }

  /** Said once. Rank 0 sends then what has not been confirmed. */
  #direct(why?: string): void {
    if (this.#closed) return;
    this.close();
    const reason = why === undefined ? {} : { why: why.slice(0, 256) };
    this.#options.toRankZero.send({ t: 'direct', ...reason });
  }
}
