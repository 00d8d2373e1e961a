import { WeftError } from '../../errors.js';
import { version } from '../process-facts.js';
import { type CallOptions, Calls } from './calls.js';
import { type ClockOffset, readOffset } from './clock-offset.js';
import type { Connection } from './connection.js';
import { encodeFrames, requestLimits } from './frames.js';
import { PauseAwareClock } from './heartbeat.js';
import {
  type CollectiveKind,
  collectiveOp,
  type Failure,
  type Member,
  type Reply,
  replySchema,
  toError,
  welcomeOp,
} from './messages.js';
import { type ReachOptions, reach } from './reach.js';
import { Relay } from './relay.js';
import { seconds } from './roster.js';
import { Tree } from './tree.js';
import { Uplink } from './uplink.js';
import { packValue, unpackValue } from './values.js';

interface ClientOptions extends ReachOptions {
  readonly member: Member;
  readonly size: number;
  readonly heartbeatMs: number;
  readonly silenceMs: number;
  readonly fanOut?: number | undefined;
  /** What rank 0 binds, or would: a relay beside it does the same. Default: loopback. */
  readonly listenHosts?: readonly string[];
}

/** Rank 0 answers at the deadline and names who is missing; only if it is stuck itself do we speak first. */
const serverGraceMs = 3000;

/** A rank's line to the rendezvous. Every rank has one, rank 0 too. */
export class RendezvousClient {
  readonly #connection: Connection;
  readonly #options: ClientOptions;
  readonly #relay: Relay;
  readonly #uplink: Uplink;
  readonly #controller = new AbortController();
  readonly #calls = new Calls();
  readonly #turns = new Map<string, number>();
  readonly #clock: PauseAwareClock;
  readonly #welcome: Promise<readonly Member[]>;
  #greet: { resolve(members: readonly Member[]): void; reject(error: Error): void } | undefined;
  #members: readonly Member[] = [];
  #failures = 0;
  #clockReadings = 0;
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

  /** The values by rank, as far as this rank gets them; see `World` for the meaning of each kind. */
  async collect(
    kind: CollectiveKind,
    name: string,
    value: unknown,
    options: CallOptions,
  ): Promise<Map<number, unknown>> {
    if (name.length > 256) throw new TypeError(`a name of ${name.length} characters is too long`);
    const packed = packValue(value);
    const turn = this.#turns.get(`${kind} ${name}`) ?? 0;
    const request = { t: 'collect', kind, name, turn, timeoutMs: options.timeoutMs, value: packed };
    const answer = this.#call(collectiveOp(kind, name, turn), request, options);
    this.#turns.set(`${kind} ${name}`, turn + 1);
    return answer;
  }

  note(text: string, how: { aloud?: boolean } = {}): void {
    if (this.#closed !== undefined) return;
    this.#connection.send({ t: 'note', text: text.slice(0, 256), ...how });
  }

  /** How far this host's clock is ahead of rank 0's. */
  clockOffset(options: CallOptions): Promise<ClockOffset> {
    return readOffset(async () => {
      const op = `clock ${this.#clockReadings++}`;
      const values = await this.#call(op, { t: 'clock', op }, options);
      return Number(values.get(0));
    });
  }

  /** Resolves when rank 0 has told all ranks, or cannot any more. */
  async fail(failure: Failure): Promise<void> {
    const op = `fail ${this.#failures++}`;
    try {
      await this.#call(op, { t: 'fail', op, failure }, { timeoutMs: 1000 });
    } catch {
      // Our own abort, or rank 0 is gone: in both cases the others know or will know.
    }
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

  async #call(op: string, request: object, options: CallOptions): Promise<Map<number, unknown>> {
    if (this.#closed !== undefined) throw this.#closed;
    const limits = { ...options, timeoutMs: options.timeoutMs + serverGraceMs };
    const answer = this.#calls.open(op, limits, () => this.#stuck(op));
    try {
      this.#connection.sendEncoded(encodeFrames(request, requestLimits));
    } catch (error) {
      this.#calls.refuse(op, error); // too large to send
    }
    return answer;
  }

  #stuck(op: string): WeftError {
    const silent = performance.now() - this.#connection.lastHeardMs;
    return new WeftError(
      'TIMEOUT',
      `${op} timed out: ${this.#rankZero()} does not answer; its last message came ${seconds(silent)} ago`,
    );
  }

  #onReply(reply: Reply, body: Buffer): void {
    this.#relay.pass(reply, body);
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
          this.#calls.value(reply.op, rank, () => unpackValue(value));
        }
        break;
      case 'done':
        if (reply.all) this.#connection.send({ t: 'got', op: reply.op });
        this.#calls.done(reply.op);
        break;
      case 'refused':
        this.#calls.refuse(reply.op, toError(reply.failure));
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
    this.#calls.refuseAll(error);
  }

  #rankZero(): string {
    const member = this.#members[0];
    return member === undefined ? 'rank 0' : `rank 0 on host ${member.host} (pid ${member.pid})`;
  }
}
