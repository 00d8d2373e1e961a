import type { Connection } from './connection.js';
import type { Member } from './messages.js';

export interface Seat {
  readonly member: Member;
  readonly connection: Connection;
  /** It said goodbye: from now on its absence is no failure. Set by `Roster.leave`. */
  left: boolean;
  /** The last operation it named, for messages about who is missing. */
  doing: string;
  doingSinceMs: number;
}

const mostNamed = 8;

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;

/** Who has joined, where they are and what they were last doing. */
export class Roster {
  readonly size: number;
  readonly #expectedHosts: readonly string[] | undefined;
  readonly #seats = new Map<number, Seat>();
  #left = 0;

  constructor(size: number, expectedHosts?: readonly string[]) {
    this.size = size;
    this.#expectedHosts = expectedHosts;
  }

  get full(): boolean {
    return this.#seats.size === this.size;
  }

  get allLeft(): boolean {
    return this.#left === this.size;
  }

  /** How many have said goodbye. */
  get left(): number {
    return this.#left;
  }

  get seats(): Seat[] {
    return [...this.#seats.values()];
  }

  get members(): Member[] {
    return this.seats.map((seat) => seat.member).sort((a, b) => a.rank - b.rank);
  }

  at(rank: number): Seat | undefined {
    return this.#seats.get(rank);
  }

  seat(member: Member, connection: Connection): Seat {
    const now = performance.now();
    const seat = { member, connection, left: false, doing: 'joined', doingSinceMs: now };
    this.#seats.set(member.rank, seat);
    return seat;
  }

  leave(seat: Seat): void {
    if (!seat.left) this.#left++;
    seat.left = true;
  }

  absent(): number[] {
    return Array.from({ length: this.size }, (_, rank) => rank).filter(
      (rank) => !this.#seats.has(rank),
    );
  }

  did(rank: number, what: string): void {
    const seat = this.#seats.get(rank);
    if (seat === undefined) return;
    seat.doing = what;
    seat.doingSinceMs = performance.now();
  }

  /** "rank 3 on host n2 (pid 71)". */
  name(rank: number): string {
    const member = this.#seats.get(rank)?.member;
    if (member !== undefined) return `rank ${rank} on host ${member.host} (pid ${member.pid})`;
    const expected = this.#expectedHosts?.[rank];
    return expected === undefined ? `rank ${rank}` : `rank ${rank} (expected on host ${expected})`;
  }

  describe(ranks: readonly number[]): string {
    const now = performance.now();
    const named = ranks.slice(0, mostNamed).map((rank) => {
      const seat = this.#seats.get(rank);
      if (seat === undefined) return `${this.name(rank)}: never joined`;
      const doing = `${seat.doing} ${seconds(now - seat.doingSinceMs)} ago`;
      const silent = now - seat.connection.lastHeardMs;
      const silence = silent > 5000 ? `, silent for ${seconds(silent)}` : '';
      return `${this.name(rank)}: last step: ${doing}${silence}`;
    });
    const rest = ranks.length - named.length;
    return named.join('; ') + (rest > 0 ? `; and ${rest} more` : '');
  }
}
