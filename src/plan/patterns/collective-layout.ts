import { chunkCount, maxSlot, type SumDtype } from '../plan.js';
import { mostStagedPieces } from '../staged-pieces.js';
import { multi, type Strategy } from '../strategies.js';
import {
  type Block,
  blockStride,
  type Content,
  checkBytes,
  checkRank,
  checkWorld,
} from '../traffic.js';
import type { Route } from './routes.js';

/** What the four collectives do with the shares of the bytes. */
const kinds = {
  allgather: { adds: false, spreads: true },
  'reduce-scatter': { adds: true, spreads: false },
  allreduce: { adds: true, spreads: true },
  broadcast: { adds: false, spreads: true },
} as const;
export type CollectiveKind = keyof typeof kinds;

export interface CollectiveTraffic {
  readonly kind: CollectiveKind;
  readonly world: number;
  /** nccl-tests' `size`: all that a rank ends up with (allgather), starts with (reduce-scatter), or both. */
  readonly bytes: number;
  readonly route: Route;
  /** Of the numbers that are added. Default: float32. */
  readonly dtype?: SumDtype;
  /** The rank that has what is broadcast. Default: 0. */
  readonly root?: number;
  /** Default: 256 KiB. */
  readonly pieceBytes?: number;
}

/** The bytes that travel together: those of one owner. */
interface Share {
  readonly owner: number;
  readonly offset: number;
  readonly bytes: number;
}

/** What a rank does with a share: it adds what it gets to its own, gives that away, and gets and passes on the result. */
export interface Duty {
  readonly share: Share;
  readonly addends: readonly Block[];
  readonly give: Block | undefined;
  readonly get: Block | undefined;
  readonly pass: readonly Block[];
  /** Where in the target buffer the sum lies; undefined where nothing is added. */
  readonly sumOffset: number | undefined;
}

/**
 * Pieces wait for each other, not whole shares: one piece is added or passed on while the next one arrives. Large
 * enough that a message costs little; small enough that what arrived is added while the cache holds it.
 */
export const collectivePieceBytes = 256 * 2 ** 10;
const mostPieces = 64;

/** Where everything lies, and which blocks there are. */
export class CollectiveLayout {
  readonly shares: readonly Share[];
  readonly adds: boolean;
  readonly #options: CollectiveTraffic;
  readonly #children: readonly (readonly number[])[];
  /** By place: which of its parent's children it is. */
  readonly #childIndex: Int32Array;
  /** By place: how many stretches behind the result the places before it use. */
  readonly #scratchBefore: Int32Array;
  /** By place: the numbers of the blocks that it gives to its parent, and that it gets from there. */
  readonly #giveNumber: Int32Array;
  readonly #getNumber: Int32Array;
  readonly #blocksPerPair: number;
  readonly #stride: number;

  constructor(options: CollectiveTraffic) {
    const { kind, world, bytes, route, root = 0 } = options;
    checkWorld(world);
    checkBytes('bytes', bytes);
    checkRank('root', root, world);
    this.#options = options;
    this.adds = kinds[kind].adds;
    this.shares =
      kind === 'broadcast' ? [{ owner: root, offset: 0, bytes }] : sharesOf(bytes, world);
    this.#stride = blockStride(Math.max(...this.shares.map((share) => share.bytes)));
    this.#children = Array.from({ length: world }, (_, place) => route.to(place, world));
    [this.#childIndex, this.#giveNumber, this.#getNumber] = [0, 1, 2].map(
      () => new Int32Array(world),
    ) as [Int32Array, Int32Array, Int32Array];
    this.#scratchBefore = new Int32Array(world + 1);
    for (const [place, children] of this.#children.entries()) {
      for (const [index, child] of children.entries()) this.#childIndex[child] = index;
      const sums = place > 0 && children.length > 0 ? 1 : 0;
      this.#scratchBefore[place + 1] = this.#scratchBefore[place]! + children.length + sums;
    }
    this.#blocksPerPair = this.#numberBlocks();
  }

  /** Every rank has every place once, so blocks between ranks that are as far apart are the same for all pairs. */
  #numberBlocks(): number {
    const { kind, world, route } = this.#options;
    if (kind === 'broadcast') return 1;
    const { adds, spreads } = kinds[kind];
    const counts = new Int32Array(world);
    for (let place = 1; place < world; place++) {
      const up = place - route.from(place)!;
      if (adds) this.#giveNumber[place] = counts[world - up]!++;
      if (spreads) this.#getNumber[place] = counts[up]!++;
    }
    return counts.reduce((most, one) => Math.max(most, one), 0);
  }

  /** In the order rank + 1, rank + 2, …: at any moment the ranks aim at different peers. Its own share comes last. */
  duties(rank: number): Duty[] {
    const { kind, world } = this.#options;
    if (kind === 'broadcast') return this.shares.map((share) => this.#duty(rank, share));
    return Array.from({ length: world }, (_, i) =>
      this.#duty(rank, this.shares[(rank + 1 + i) % world]!),
    );
  }

  #duty(rank: number, share: Share): Duty {
    const { kind, world } = this.#options;
    const { adds, spreads } = kinds[kind];
    const place = (rank - share.owner + world) % world;
    const children = this.#children[place]!;
    const added = adds && (children.length > 0 || place === 0);
    return {
      share,
      addends: adds ? children.map((child) => this.#given(share, child)) : [],
      give: adds && place > 0 ? this.#given(share, place) : undefined,
      get: spreads && place > 0 ? this.#got(share, place) : undefined,
      pass: spreads ? children.map((child) => this.#got(share, child)) : [],
      sumOffset: added ? this.#sumOffset(share, place) : undefined,
    };
  }

  /** The block with which a place gives its parent the sum of its branch. */
  #given(share: Share, place: number): Block {
    const parent = this.#options.route.from(place)!;
    const leaf = this.#children[place]!.length === 0;
    return {
      ...this.#between(share, place, parent),
      buffer: this.#giveNumber[place]!,
      ...(!leaf && { sourceBuffer: 'target' }),
      sourceOffset: leaf ? share.offset : this.#sumOffset(share, place),
      targetOffset: this.#scratch(this.#scratchBefore[parent]! + this.#childIndex[place]!),
    };
  }

  /** The block with which a place gets the result from its parent. */
  #got(share: Share, place: number): Block {
    const { kind, route } = this.#options;
    const parent = route.from(place)!;
    const fromSource = parent === 0 && !kinds[kind].adds;
    return {
      ...this.#between(share, parent, place),
      buffer: this.#getNumber[place]!,
      ...(!fromSource && { sourceBuffer: 'target' }),
      sourceOffset: fromSource ? this.#ownOffset(share) : share.offset,
      targetOffset: share.offset,
    };
  }

  #between({ owner, bytes }: Share, from: number, to: number) {
    const { world } = this.#options;
    return { source: (owner + from) % world, target: (owner + to) % world, bytes };
  }

  #sumOffset(share: Share, place: number): number {
    if (place === 0) return this.#options.kind === 'reduce-scatter' ? 0 : share.offset;
    return this.#scratch(this.#scratchBefore[place]! + this.#children[place]!.length);
  }

  #scratch(index: number): number {
    const { kind, bytes } = this.#options;
    const result = kind === 'reduce-scatter' ? this.#stride : blockStride(bytes);
    return result + index * this.#stride;
  }

  /** Where an owner has its share before anything is sent. */
  #ownOffset({ offset }: Share): number {
    return this.#options.kind === 'allgather' ? 0 : offset;
  }

  sourceBytes(rank: number): number {
    const { kind, bytes, root = 0 } = this.#options;
    if (kind === 'allgather') return this.shares[rank]!.bytes;
    return kind === 'broadcast' && rank !== root ? 0 : bytes;
  }

  targetBytes(rank: number): number {
    const { kind, world, bytes, root = 0 } = this.#options;
    if (kinds[kind].adds) return this.#scratch(this.#scratchBefore[world]!);
    return kind === 'broadcast' && rank === root ? 0 : bytes;
  }

  contents(rank: number): Content[] {
    const { kind, world, bytes } = this.#options;
    const sumAt = (offset: number) =>
      Array.from({ length: world }, (_, one) => ({ rank: one, offset }));
    if (kind === 'allreduce') return [{ offset: 0, bytes, sumOf: sumAt(0) }];
    if (kind === 'reduce-scatter') {
      const own = this.shares[rank]!;
      return [{ offset: 0, bytes: own.bytes, sumOf: sumAt(own.offset) }];
    }
    return this.shares
      .filter(({ owner }) => owner !== rank)
      .map((share) => ({
        offset: share.offset,
        bytes: share.bytes,
        copyOf: { rank: share.owner, offset: this.#ownOffset(share) },
      }));
  }

  /** How many pieces the share of a channel is cut into: as many as immediates can name, and one where none waits. */
  pieces(strategy: Strategy, channels: number): number {
    const { pieceBytes = collectivePieceBytes } = this.#options;
    const passedOn = this.#children.some((children, place) => place > 0 && children.length > 0);
    if (!this.adds && !passedOn) return 1;
    const [largest] = strategy.split(this.#stride, channels);
    // Plans that are staged cut each of these again.
    const slots = Math.floor(maxSlot / mostStagedPieces);
    const named = Math.floor(slots / (this.#blocksPerPair * strategy.maxPieces(channels)));
    return Math.max(1, Math.min(chunkCount(largest!.bytes, pieceBytes), mostPieces, named));
  }
}

/** Shares differ by at most a cache line. Where there are fewer lines than ranks, the last shares are empty. */
function sharesOf(bytes: number, world: number): Share[] {
  const filled = multi.split(bytes, world);
  return Array.from({ length: world }, (_, owner) => ({
    owner,
    ...(filled[owner] ?? { offset: bytes, bytes: 0 }),
  }));
}
