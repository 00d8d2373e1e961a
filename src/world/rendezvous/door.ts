import type { AddressInfo, Server, Socket } from 'node:net';
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

/** Connections that have not proved themselves, besides one for each rank; when there are more, the oldest goes. */
const mostStrangers = 1024;
const handshakeMs = 10_000;

/** A listening port that lets in who knows the token. Strangers cost little and harm nobody. */
export class Door {
  readonly #server: Server;
  readonly #options: DoorOptions;
  readonly #strangers = new Set<Connection>();

  static async open(options: DoorOptions): Promise<Door> {
    return new Door(await listenAt(options.meeting), options);
  }

  private constructor(server: Server, options: DoorOptions) {
    this.#server = server;
    this.#options = options;
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
    if (this.#strangers.size > mostStrangers + this.#options.expected) {
      const [oldest] = this.#strangers;
      oldest?.destroy();
    }
    try {
      const { name, secret } = this.#options;
      await admit(connection, secret, handshakeMs, name);
      this.#options.enter(connection, await connection.receive(handshakeMs));
    } catch (error) {
      const why = error instanceof Refusal ? error.message : 'it does not use the protocol of Weft';
      this.#options.refused(`a connection from ${connection.peer} (${why})`);
      await connection.end();
    } finally {
      this.#strangers.delete(connection);
    }
  }
}
