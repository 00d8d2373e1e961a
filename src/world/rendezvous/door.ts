import type { AddressInfo, Server, Socket } from 'node:net';
import { ownFiles, readLimits } from '../../fabric/limits.js';
import { admit, type DoorName, Refusal, type Secret } from './auth.js';
import { Connection } from './connection.js';
import { listenAt } from './listen.js';
import type { Meeting } from './meeting.js';

interface DoorOptions {
  readonly name: DoorName;
  readonly meeting: Meeting;
  readonly secret: Secret;
  /** How many ranks will come. */
  readonly expected: number;
  /** Somebody who knows the token, and the first message. Throws if that is not one that may come first. */
  enter(connection: Connection, first: unknown): void;
  refused(who: string): void;
}

/** How many connections that have not proved themselves are kept, besides one for each rank that is still to come. */
const strangers = { most: 1024, least: 8 };
const handshakeMs = 10_000;

/** A listening port that lets in who knows the token. Strangers cost little and harm nobody. */
export class Door {
  readonly #server: Server;
  readonly #options: DoorOptions;
  readonly #strangers = new Set<Connection>();
  readonly #mostStrangers: number;
  #entered = 0;

  static async open(options: DoorOptions): Promise<Door> {
    return new Door(await listenAt(options.meeting), options);
  }

  private constructor(server: Server, options: DoorOptions) {
    this.#server = server;
    this.#options = options;
    this.#mostStrangers = mostStrangers(options.expected);
    server.on('connection', (socket) => void this.#meet(socket));
    server.on('error', () => {}); // accept failed (no file descriptors): the rank will try again
  }

  get address(): AddressInfo {
    return this.#server.address() as AddressInfo;
  }

  /** Those who are in stay. */
  close(): void {
    this.#server.close();
    for (const stranger of this.#strangers) stranger.destroy();
  }

  async #meet(socket: Socket): Promise<void> {
    const connection = new Connection(socket);
    this.#strangers.add(connection);
    this.#makeRoom();
    try {
      const { name, secret } = this.#options;
      await admit(connection, secret, handshakeMs, name);
      this.#options.enter(connection, await connection.receive(handshakeMs));
      this.#entered++;
      this.#strangers.delete(connection);
      this.#makeRoom();
    } catch (error) {
      const why = error instanceof Refusal ? error.message : 'it does not use the protocol of Weft';
      this.#options.refused(`a connection from ${connection.peer} (${why})`);
      await connection.end();
    } finally {
      this.#strangers.delete(connection);
    }
  }

  /** The oldest go: a rank proves itself at once, and one that had to go comes again. */
  #makeRoom(): void {
    const awaited = Math.max(0, this.#options.expected - this.#entered);
    const most = awaited + (awaited > 0 ? this.#mostStrangers : strangers.least);
    for (const stranger of this.#strangers) {
      if (this.#strangers.size <= most) break;
      this.#strangers.delete(stranger);
      stranger.destroy();
    }
  }
}

/** What ranks need of the files that this process may open is not for strangers. */
function mostStrangers(expected: number): number {
  const { openFiles = Number.POSITIVE_INFINITY } = readLimits();
  const spare = openFiles - ownFiles - expected;
  return Math.max(strangers.least, Math.min(strangers.most, spare));
}
