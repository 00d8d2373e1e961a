import type { Routing } from '../routing.js';
import { blockStride } from '../traffic.js';

/** What one iteration carries. */
export interface MoeLayer {
  readonly routing: Routing;
  /** Of a token on its way to experts. */
  readonly dispatchBytes: number;
  /** Of a token on its way back: bfloat16. */
  readonly combineBytes: number;
  readonly phase: 'dispatch' | 'combine' | 'both';
  /** Parts of the tokens that are dispatched one after the other. */
  readonly microBatches: number;
  /** Parts of a micro-batch that go to all peers before the next does; sums are made when one has come back. */
  readonly slices: number;
}

/** A token's copies: one for each rank that hosts experts of it. */
export interface Copies {
  /** Where those of each token begin; one more entry ends the last. */
  readonly starts: Uint32Array;
  readonly ranks: Uint16Array;
  /** What the experts of that rank weigh together, in sixteenths. */
  readonly sixteenths: Uint8Array;
}

/**
 * Where everything lies. Source buffers hold the rank's tokens, then what its experts return: for each rank in turn, one
 * vector for each of that rank's tokens that came here, in their order. Target buffers hold the tokens that came from
 * each rank, the vectors that came back from each rank, and the sums of all tokens.
 */
export class MoeLayout {
  readonly layer: MoeLayer;
  readonly world: number;
  /** By rank. */
  readonly copies: readonly Copies[];
  readonly #parts: number;
  /** By origin, expert rank and slice: copies of tokens of earlier slices; the last entry counts all. */
  readonly #before: Uint32Array;
  /** By origin and expert rank: copies that ranks before the origin have there, with and without the rank's own. */
  readonly #ofEarlier: Float64Array;
  readonly #ofEarlierOthers: Float64Array;
  /** By origin and expert rank: the origin's copies on other ranks before this one. */
  readonly #onEarlierOthers: Float64Array;

  constructor(layer: MoeLayer) {
    this.layer = layer;
    const { routing, microBatches, slices } = layer;
    const { world } = routing;
    this.world = world;
    this.copies = routing.tokens.map((_, rank) => copiesOf(routing, rank));
    this.#parts = microBatches * slices;
    this.#before = new Uint32Array(world * world * (this.#parts + 1));
    for (let origin = 0; origin < world; origin++) this.#count(origin);
    const [earlier, earlierOthers, onEarlierOthers] = [0, 1, 2].map(
      () => new Float64Array(world * world),
    ) as [Float64Array, Float64Array, Float64Array];
    for (let a = 0; a < world; a++) {
      let [all, others, on] = [0, 0, 0];
      for (let b = 0; b < world; b++) {
        earlier[b * world + a] = all;
        earlierOthers[b * world + a] = others;
        onEarlierOthers[a * world + b] = on;
        all += this.between(b, a);
        if (a !== b) others += this.between(b, a);
        if (a !== b) on += this.between(a, b);
      }
    }
    this.#ofEarlier = earlier;
    this.#ofEarlierOthers = earlierOthers;
    this.#onEarlierOthers = onEarlierOthers;
  }

  #count(origin: number): void {
    const { starts, ranks } = this.copies[origin]!;
    const row = this.#parts + 1;
    for (let part = 0; part < this.#parts; part++) {
      const [from, to] = this.tokensOf(origin, part, part + 1);
      for (let host = 0; host < this.world; host++) {
        const at = (origin * this.world + host) * row + part;
        this.#before[at + 1] = this.#before[at]!;
      }
      for (let i = starts[from]!; i < starts[to]!; i++) {
        this.#before[(origin * this.world + ranks[i]!) * row + part + 1]!++;
      }
    }
  }

  /** Of neighbouring tokens that go to the same rank, over all of them. */
  get meanRunBytes(): number {
    const { dispatchBytes, phase } = this.layer;
    if (phase === 'combine') return Number.POSITIVE_INFINITY;
    let [runs, copies] = [0, 0];
    for (const { starts, ranks } of this.copies) {
      const last = new Int32Array(this.world).fill(-2);
      copies += ranks.length;
      for (let token = 0; token + 1 < starts.length; token++) {
        for (let i = starts[token]!; i < starts[token + 1]!; i++) {
          if (last[ranks[i]!] !== token - 1) runs++;
          last[ranks[i]!] = token;
        }
      }
    }
    return (copies * dispatchBytes) / Math.max(1, runs);
  }

  /** The tokens of a rank that these slices hold: from the first up to but without the last. */
  tokensOf(rank: number, fromSlice: number, toSlice: number): [from: number, to: number] {
    const { count } = this.layer.routing.tokens[rank]!;
    const at = (slice: number) => Math.floor((slice * count) / this.#parts);
    return [at(fromSlice), at(toSlice)];
  }

  /** Tokens of `origin` that have experts on `host`: those before this slice; default: all. */
  between(origin: number, host: number, slice = this.#parts): number {
    return this.#before[(origin * this.world + host) * (this.#parts + 1) + slice]!;
  }

  get #dispatches(): boolean {
    return this.layer.phase !== 'combine';
  }

  get #combines(): boolean {
    return this.layer.phase !== 'dispatch';
  }

  tokenAt(token: number): number {
    return token * this.layer.dispatchBytes;
  }

  /** In the target buffer of `host`: the n-th token that came from `origin`. */
  arrivedAt(origin: number, host: number, n: number): number {
    return (this.#ofEarlierOthers[origin * this.world + host]! + n) * this.layer.dispatchBytes;
  }

  /** In the source buffer of `host`: the vector for the n-th token of `origin`. */
  returnedAt(origin: number, host: number, n: number): number {
    const before = this.#ofEarlier[origin * this.world + host]! + n;
    return this.#returnsBegin(host) + before * this.layer.combineBytes;
  }

  /** In the target buffer of `origin`: the n-th vector that came back from `host`. */
  cameBackAt(origin: number, host: number, n: number): number {
    const before = this.#onEarlierOthers[origin * this.world + host]! + n;
    return this.#cameBackBegin(origin) + before * this.layer.combineBytes;
  }

  sumAt(rank: number, token: number): number {
    const { world } = this;
    const last = rank * world + world - 1;
    const others =
      this.#onEarlierOthers[last]! + (rank === world - 1 ? 0 : this.between(rank, world - 1));
    const begin = this.#cameBackBegin(rank) + blockStride(others * this.layer.combineBytes);
    return begin + token * this.layer.combineBytes;
  }

  /** What the experts of a rank return, its own tokens' included. */
  returns(host: number): { offset: number; bytes: number } {
    const last = this.world - 1;
    const count = this.#ofEarlier[last * this.world + host]! + this.between(last, host);
    return { offset: this.#returnsBegin(host), bytes: count * this.layer.combineBytes };
  }

  sourceBytes(rank: number): number {
    if (!this.#combines) return this.#returnsBegin(rank);
    const { offset, bytes } = this.returns(rank);
    return offset + bytes;
  }

  targetBytes(rank: number): number {
    const { count } = this.layer.routing.tokens[rank]!;
    return this.#combines ? this.sumAt(rank, count) : this.#cameBackBegin(rank);
  }

  #returnsBegin(rank: number): number {
    const { count } = this.layer.routing.tokens[rank]!;
    return this.#dispatches ? blockStride(this.tokenAt(count)) : 0;
  }

  #cameBackBegin(rank: number): number {
    if (!this.#dispatches) return 0;
    const last = this.world - 1;
    const n = rank === last ? 0 : this.between(last, rank);
    return blockStride(this.arrivedAt(last, rank, n));
  }
}

function copiesOf({ world, hostOf, tokens }: Routing, rank: number): Copies {
  const { count, starts: begin, experts, sixteenths } = tokens[rank]!;
  const starts = new Uint32Array(count + 1);
  const ranks = new Uint16Array(experts.length);
  const weights = new Uint8Array(experts.length);
  const placeOf = new Int32Array(world).fill(-1);
  let next = 0;
  for (let token = 0; token < count; token++) {
    starts[token] = next;
    for (let i = begin[token]!; i < begin[token + 1]!; i++) {
      const host = hostOf[experts[i]!]!;
      if (placeOf[host]! < starts[token]!) {
        placeOf[host] = next;
        ranks[next++] = host;
      }
      weights[placeOf[host]!]! += sixteenths[i]!;
    }
  }
  starts[count] = next;
  return { starts, ranks: ranks.subarray(0, next), sixteenths: weights.subarray(0, next) };
}
