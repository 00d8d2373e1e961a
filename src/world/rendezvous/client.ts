import { WeftError } from '../../errors.js';
import { version } from '../process-facts.js';
import type { CallOptions } from './calls.js';
import type { ClockOffset } from './clock-offset.js';
import type { Connection } from './connection.js';
import { PauseAwareClock } from './heartbeat.js';
import {
  type CollectiveKind,
  type Failure,
  type Member,
  type Reply,
  replySchema,
  toError,
  welcomeOp,
} from './messages.js';
import { type ReachOptions, reach } from './reach.js';
import { Relay } from './relay.js';
import { Requests } from './requests.js';
import { seconds } from './roster.js';
import { Tree } from './tree.js';
import { Uplink } from './uplink.js';
import { unpackValue } from './values.js';

interface ClientOptions extends ReachOptions {
  readonly member: Member;
  readonly size: number;
  readonly heartbeatMs: number;
  readonly silenceMs: number;
  readonly fanOut?: number | undefined;
  /** What rank 0 binds, or would: a relay beside it does the same. Default: loopback. */
  readonly listenHosts?: readonly string[];
}

/** A rank's line to the rendezvous. Every rank has one, rank 0 too. */
export class RendezvousClient {
  readonly #connection: Connection;
  readonly #options: ClientOptions;
  readonly #relay: Relay;
  readonly #uplink: Uplink;
  readonly #controller = new AbortController();
  readonly #requests: Requests;
  readonly #clock: PauseAwareClock;
  readonly #welcome: Promise<readonly Member[]>;
  #greet: { resolve(members: readonly Member[]): void; reject(error: Error): void } | undefined;
  #members: readonly Member[] = [];
  #closed: WeftError | undefined;
  /** The rank whose failure or loss ended the job. */
  failedRank: number | undefined;

  static async join(options: ClientOptions): Promise<RendezvousClient> {
    const connection = await reach(options);
    const { size, member, secret, listenHosts = ['127.0.0.1'] } = options;
    const { rank } = member;
    const children = new Tree(size, options.fanOut).childrenOf(rank);
    const relay = await Relay.open({ rank, children, secret, listenHosts }, connection);
    const client = new RendezvousClient(connection, relay, options);
    try {
      connection.send({ t: 'join', size, version, member, relay: relay.offer });
      client.#members = await client.#welcome;
      return client;
    } catch (error) {
      client.#clock.stop();
      client.#uplink.close();
      void relay.close();
      connection.destroy();
      throw error;
    }
  }

  private constructor(connection: Connection, relay: Relay, options: ClientOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#relay = relay;
    this.#uplink = new Uplink({
      rank: options.member.rank,
      secret: options.secret,
      toRankZero: connection,
      heard: (reply, body) => this.#onReply(reply, body),
    });
    this.#requests = new Requests({ toRankZero: connection, rankZero: () => this.#rankZero() });
    this.#welcome = new Promise((resolve, reject) => {
      this.#greet = { resolve, reject };
    });
    const onAbort = () =>
      this.#fail(
        new WeftError('ABORTED', 'joining was aborted', { cause: options.signal?.reason }),
      );
    options.signal?.addEventListener('abort', onAbort, { once: true });
    void this.#welcome
      .catch(() => {})
      .finally(() => options.signal?.removeEventListener('abort', onAbort));
    this.#clock = new PauseAwareClock(options.heartbeatMs, (silentMs) =>
      this.#beat(silentMs(connection)),
    );
    connection.handle({
      message: (message, body) => this.#onReply(replySchema.parse(message), body),
      closed: (error) => this.#onClosed(error),
    });
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  collect(
    kind: CollectiveKind,
    name: string,
    value: unknown,
    options: CallOptions,
  ): Promise<Map<number, unknown>> {
    return this.#requests.collect(kind, name, value, options);
  }

  note(text: string, how: { aloud?: boolean } = {}): void {
    if (this.#closed !== undefined) return;
    this.#connection.send({ t: 'note', text: text.slice(0, 256), ...how });
  }

  clockOffset(options: CallOptions): Promise<ClockOffset> {
    return this.#requests.clockOffset(options);
  }

  fail(failure: Failure): Promise<void> {
    return this.#requests.fail(failure);
  }

  async close(): Promise<void> {
    if (this.#closed === undefined) {
      this.#closed = new WeftError('CLOSED', 'the world was closed');
      this.#connection.send({ t: 'bye' });
      this.#rejectAll(this.#closed);
    }
    this.#clock.stop();
    this.#uplink.close();
    await this.#relay.close();
    await this.#connection.end();
  }

  #onReply(reply: Reply, body: Buffer): void {
    this.#relay.pass(reply, body);
    const { calls } = this.#requests;
    switch (reply.t) {
      case 'parent':
        void this.#uplink.follow(reply);
        break;
      case 'welcome':
        if (this.#uplink.followed) this.#connection.send({ t: 'got', op: welcomeOp });
        this.#greet?.resolve(reply.members);
        break;
      case 'values':
        for (const [rank, value] of reply.values) {
          calls.value(reply.op, rank, () => unpackValue(value));
        }
        break;
      case 'done':
        if (reply.all) this.#connection.send({ t: 'got', op: reply.op });
        calls.done(reply.op);
        break;
      case 'refused':
        calls.refuse(reply.op, toError(reply.failure));
        break;
      case 'abort':
        this.failedRank ??= reply.failure.rank;
        this.#fail(toError(reply.failure));
        break;
      case 'bye':
        this.#leaveQuietly();
        break;
      case 'beat':
        break;
    }
  }

  #onClosed(error: Error | undefined): void {
    const why = error === undefined ? 'its connection closed unexpectedly' : error.message;
    this.#fail(new WeftError('PEER_LOST', `${this.#rankZero()} was lost: ${why}`));
  }

  /** Rank 0 closed in order: no failure, but nothing more can be exchanged. */
  #leaveQuietly(): void {
    if (this.#closed !== undefined) return;
    this.#closed = new WeftError('CLOSED', `${this.#rankZero()} has closed the world`);
    this.#rejectAll(this.#closed);
  }

  #beat(silentMs: number): void {
    if (this.#closed !== undefined) return;
    this.#connection.send({ t: 'beat' });
    if (silentMs > this.#options.silenceMs) {
      this.#connection.destroy(new Error(`it has been silent for ${seconds(silentMs)}`));
    }
  }

  /** The first reason stays: later ones are consequences. */
  #fail(error: WeftError): void {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    this.#clock.stop();
    this.#uplink.close();
    this.#rejectAll(error);
    this.#controller.abort(error);
  }

  #rejectAll(error: WeftError): void {
    this.#greet?.reject(error);
    this.#requests.end(error);
  }

  #rankZero(): string {
    const member = this.#members[0];
    return member === undefined ? 'rank 0' : `rank 0 on host ${member.host} (pid ${member.pid})`;
  }
}
