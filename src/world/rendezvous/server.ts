import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Secret } from './auth.js';
import { Collectives } from './collectives.js';
import type { Connection } from './connection.js';
import { Door } from './door.js';
import { encodeFrames } from './frames.js';
import { PauseAwareClock } from './heartbeat.js';
import { conflictOf } from './join-conflict.js';
import type { Meeting } from './meeting.js';
import { type Failure, type Request, requestSchema, welcomeOp } from './messages.js';
import { PatientDeadline } from './patient-deadline.js';
import { Relays } from './relays.js';
import { Roster, type Seat, seconds } from './roster.js';
import { Tree } from './tree.js';

interface ServerOptions {
  readonly size: number;
  readonly secret: Secret;
  readonly meeting: Meeting;
  readonly expectedHosts: readonly string[] | undefined;
  readonly timeoutMs: number;
  readonly heartbeatMs: number;
  /** Silence after which a rank counts as lost. */
  readonly silenceMs: number;
  /** How many ranks a relay serves. */
  readonly fanOut?: number | undefined;
}

/** After a rank says that it failed: time for the loss of another to be seen, which is the cause then. */
const settleMs = 100;

/**
 * The rendezvous, run by rank 0. It admits ranks, then serves collectives until all have said
 * goodbye. The first failure is told to everyone and ends the job; strangers never do.
 */
export class RendezvousServer {
  readonly #options: ServerOptions;
  readonly #roster: Roster;
  readonly #collectives: Collectives;
  readonly #relays: Relays;
  readonly #failing = new Set<Seat>();
  readonly #refusals: string[] = [];
  readonly #clock: PauseAwareClock;
  readonly #joinDeadline: PatientDeadline;
  #door: Door | undefined;
  /** What the user should know of how the ranks are served. */
  readonly warnings: string[] = [];
  #heard: ((rank: number, text: string) => void) | undefined;
  #failure: Failure | undefined;
  #closing = false;

  static async open(options: ServerOptions): Promise<RendezvousServer> {
    const server = new RendezvousServer(options);
    try {
      server.#door = await Door.open({
        ...options,
        name: 'rank 0',
        expected: options.size,
        enter: (connection, first) => server.#join(connection, requestSchema.parse(first)),
        refused: (who) => server.#remember(who),
      });
      return server;
    } catch (error) {
      await server.close(0);
      throw error;
    }
  }

  private constructor(options: ServerOptions) {
    this.#options = options;
    this.#roster = new Roster(options.size, options.expectedHosts);
    const send = (rank: number, frames: Buffer) =>
      this.#roster.at(rank)?.connection.sendEncoded(frames);
    const tree = new Tree(options.size, options.fanOut);
    const warn = (text: string) => this.#warn(text);
    this.#relays = new Relays({ roster: this.#roster, tree, warn, settleMs });
    const paths = tree.hasRelays ? this.#relays : undefined;
    this.#collectives = new Collectives(this.#roster, send, paths);
    this.#joinDeadline = new PatientDeadline(options.timeoutMs, () => this.#failJoin());
    this.#clock = new PauseAwareClock(options.heartbeatMs, (grace) => this.#beat(grace));
  }

  get address(): AddressInfo {
    if (this.#door === undefined) throw new Error('rank 0 does not listen yet');
    return this.#door.address;
  }

  /** What ranks say aloud from now on. */
  hear(listener: (rank: number, text: string) => void): void {
    this.#heard = listener;
  }

  /**
   * Waits until every rank has said goodbye, the job has failed, or `timeoutMs` has passed; then closes.
   * Ranks that stay behind are told that rank 0 left in order.
   */
  async close(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    const waiting = () => !this.#roster.allLeft && this.#failure === undefined;
    while (waiting() && performance.now() < deadline) await sleep(5);
    this.#closing = true;
    this.#joinDeadline.cancel();
    this.#clock.stop();
    this.#collectives.close();
    this.#relays.close();
    this.#door?.close();
    const bye = encodeFrames({ t: 'bye' });
    await Promise.all(
      this.#roster.seats.map(({ connection }) => {
        connection.sendEncoded(bye);
        return connection.end();
      }),
    );
  }

  /** The last few refusals are told when ranks are missing: they are often the missing ranks. */
  #remember(refusal: string): void {
    this.#refusals.push(refusal);
    if (this.#refusals.length > 5) this.#refusals.shift();
  }

  #join(connection: Connection, request: Request): void {
    if (request.t !== 'join') throw new Error('it did not join first');
    const { member } = request;
    const conflict = conflictOf(request, this.#roster);
    if (conflict !== undefined) this.#abort(conflict);
    if (this.#failure !== undefined) {
      connection.send({ t: 'abort', failure: this.#failure });
      void connection.end();
      return;
    }
    const seat = this.#roster.seat(member, connection);
    if (this.#roster.full) this.#joinDeadline.cancel();
    this.#relays.joined(member.rank, request.relay);
    connection.handle({
      message: (message) => this.#serve(seat, requestSchema.parse(message)),
      closed: (error) => this.#lost(seat, error),
    });
  }

  #serve(seat: Seat, request: Request): void {
    const { rank } = seat.member;
    if (request.t === 'beat') return;
    if (this.#failure !== undefined && request.t !== 'fail') return; // the abort is on its way
    switch (request.t) {
      case 'collect':
        this.#collectives.contribute(rank, request);
        break;
      case 'note':
        this.#roster.did(rank, request.text);
        if (request.aloud) this.#heard?.(rank, request.text);
        break;
      case 'clock':
        seat.connection.send({ t: 'values', op: request.op, values: [[0, Date.now()]] });
        seat.connection.send({ t: 'done', op: request.op });
        break;
      case 'fail':
        void this.#failed(seat, request.failure, request.op);
        break;
      case 'bye':
        this.#roster.leave(seat);
        this.#collectives.leave(rank);
        break;
      case 'relayed':
        this.#relays.relayed(rank);
        break;
      case 'direct':
        this.#relays.direct(rank, seat.left ? undefined : request.why);
        this.#collectives.resend(rank);
        break;
      case 'got':
        if (request.op === welcomeOp) this.#relays.welcomed(rank);
        else this.#collectives.got(rank, request.op);
        break;
      case 'join':
        throw new Error('it joined twice');
    }
  }

  #warn(text: string): void {
    if (this.#failure !== undefined || this.#closing) return;
    this.warnings.push(text);
    this.#heard?.(0, text);
  }

  /** A rank that dies makes transfers of others fail, which may say so before its connection closes. */
  async #failed(seat: Seat, failure: Failure, op: string): Promise<void> {
    const { rank } = seat.member;
    this.#failing.add(seat);
    await sleep(settleMs);
    const message = `${this.#roster.name(rank)} failed: ${failure.message}`;
    this.#abort(failure.ofJob ? failure : { ...failure, message, rank });
    seat.connection.send({ t: 'done', op });
  }

  #lost(seat: Seat, error: Error | undefined): void {
    if (seat.left || this.#closing || this.#failing.has(seat)) return;
    const why = error === undefined ? 'its connection closed unexpectedly' : error.message;
    this.#abort({
      code: 'PEER_LOST',
      message: `${this.#roster.name(seat.member.rank)} was lost: ${why}; last step: ${seat.doing}`,
      rank: seat.member.rank,
    });
  }

  #failJoin(): void {
    const absent = this.#roster.absent();
    const joined = this.#roster.size - absent.length;
    const refused = this.#refusals.length > 0 ? `; refused ${this.#refusals.join(', ')}` : '';
    this.#abort({
      code: 'TIMEOUT',
      message:
        `${joined} of ${this.#roster.size} ranks joined within ${seconds(this.#options.timeoutMs)}; ` +
        `missing: ${absent.length > 0 ? this.#roster.describe(absent) : 'none'}${refused}`,
      absent,
    });
  }

  /** The first failure wins: what follows is its consequence. */
  #abort(failure: Failure): void {
    if (this.#failure !== undefined || this.#closing) return;
    this.#failure = failure;
    this.#joinDeadline.cancel();
    this.#collectives.close();
    this.#broadcast({ t: 'abort', failure });
  }

  #broadcast(message: object): void {
    const frames = encodeFrames(message);
    for (const { connection } of this.#roster.seats) connection.sendEncoded(frames);
  }

  #beat(silentSinceMs: (connection: Connection) => number): void {
    this.#broadcast({ t: 'beat' });
    for (const seat of this.#roster.seats) {
      const silent = silentSinceMs(seat.connection);
      if (!seat.left && silent > this.#options.silenceMs) {
        this.#lost(seat, new Error(`it has been silent for ${seconds(silent)}`));
      }
    }
  }
}
