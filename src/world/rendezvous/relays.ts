import { encodeFrames } from './frames.js';
import type { Request } from './messages.js';
import type { Roster } from './roster.js';
import type { Tree } from './tree.js';

type Offer = Extract<Request, { t: 'join' }>['relay'];

interface RelaysOptions {
  readonly roster: Roster;
  readonly tree: Tree;
  /** Hears why rank 0 serves ranks that a relay should serve, once for all that say so within `settleMs`. */
  warn(text: string): void;
  readonly settleMs: number;
}

/** Rank 0's record of who gets from a relay what all ranks get. Everyone else gets it from rank 0. */
export class Relays {
  readonly #options: RelaysOptions;
  readonly #offers = new Map<number, Offer>();
  readonly #relayed = new Set<number>();
  /** Ranks that have a relay and have not said whether they reach it. */
  readonly #open: Set<number>;
  readonly #unwelcomed = new Set<number>();
  #welcome: Buffer | undefined;
  #fallen: { readonly rank: number; readonly why: string }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RelaysOptions) {
    this.#options = options;
    const { roster, tree } = options;
    const everyone = Array.from({ length: roster.size }, (_, rank) => rank);
    this.#open = new Set(everyone.filter((rank) => tree.parentOf(rank) !== undefined));
  }

  isRelayed(rank: number): boolean {
    return this.#relayed.has(rank);
  }

  /** The relays between rank 0 and a rank, the next one first. */
  above(rank: number): number[] {
    const relays: number[] = [];
    for (let at = rank; this.#relayed.has(at); ) {
      at = this.#options.tree.parentOf(at) ?? 0;
      relays.push(at);
    }
    return relays;
  }

  /** Rank 0 is told of a rank that has joined. It names its relay to it, and names it to those below it. */
  joined(rank: number, offer: Offer): void {
    const { tree, roster } = this.#options;
    this.#offers.set(rank, offer);
    this.#introduce(rank);
    for (const child of tree.childrenOf(rank)) {
      if (roster.at(child) !== undefined) this.#introduce(child);
    }
    this.#welcomeAll();
  }

  welcomed(rank: number): void {
    this.#unwelcomed.delete(rank);
  }

  relayed(rank: number): void {
    if (!this.#open.delete(rank)) throw new Error('it has said already how it is served');
    this.#relayed.add(rank);
    this.#welcomeAll();
  }

  direct(rank: number, why?: string): void {
    const hadRelay = this.#relayed.delete(rank);
    if (!this.#open.delete(rank) && !hadRelay) throw new Error('it has no relay');
    if (why !== undefined) this.#fell(rank, why);
    if (this.#unwelcomed.delete(rank) && this.#welcome !== undefined) {
      this.#options.roster.at(rank)?.connection.sendEncoded(this.#welcome);
    }
    this.#welcomeAll();
  }

  /** Once, when all have joined and everyone has said whether it reaches its relay. */
  #welcomeAll(): void {
    const { roster } = this.#options;
    if (!roster.full || this.#open.size > 0 || this.#welcome !== undefined) return;
    this.#welcome = encodeFrames({ t: 'welcome', members: roster.members });
    this.#tellFallen();
    for (const { member, connection } of roster.seats) {
      if (this.#relayed.has(member.rank)) this.#unwelcomed.add(member.rank);
      else connection.sendEncoded(this.#welcome);
    }
  }

  #tellFallen(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [first] = this.#fallen;
    if (first === undefined) return;
    const { roster, tree, warn } = this.#options;
    const relay = roster.name(tree.parentOf(first.rank) ?? 0);
    const rest = this.#fallen.length - 1;
    const more =
      rest > 0 ? `; ${rest} more ${rest > 1 ? 'ranks have' : 'rank has'} the same problem` : '';
    this.#fallen = [];
    warn(
      `rank 0 sends more data itself: ${roster.name(first.rank)} does not reach its relay, ${relay} (${first.why})${more}. ` +
        'Open all TCP ports between the hosts of the job.',
    );
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #introduce(rank: number): void {
    const { tree, roster } = this.#options;
    const parent = tree.parentOf(rank);
    if (parent === undefined || roster.at(parent) === undefined) return;
    const offer = this.#offers.get(parent);
    if (offer === undefined) this.direct(rank, 'the relay could not open a port');
    else {
      const frames = encodeFrames({ t: 'parent', rank: parent, ...offer });
      roster.at(rank)?.connection.sendEncoded(frames);
    }
  }

  #fell(rank: number, why: string): void {
    this.#fallen.push({ rank, why });
    // While the world forms, everyone is waited for.
    if (this.#welcome !== undefined)
      this.#timer ??= setTimeout(() => this.#tellFallen(), this.#options.settleMs);
  }
}
