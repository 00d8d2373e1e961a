import { seededRandom } from '../../src/measure/seeded-random.js';
import type { Plan, PostStep } from '../../src/plan/plan.js';
import { type Cut, countOf, cutsOf, sideOf } from './interpreter-chunks.js';
import {
  isDone,
  land,
  localChoices,
  makeReady,
  type RankState,
  startNextIteration,
  startOf,
} from './interpreter-rank.js';

interface Chunk extends Cut {
  readonly step: number;
  readonly from: RankState;
  readonly post: PostStep;
  delivered: boolean;
}

/**
 * Executes the plans of all ranks as a fabric without any order would: at every turn one thing that
 * may happen is drawn at random: a chunk is posted, delivered, or completed at its sender; time passes; a copy
 * reads, or has written. Ranks run into the next iteration without waiting for each other. Sends
 * between two ranks on one channel match receives in posting order; the copies of one direction
 * follow each other. Where a plan has device buffers, what it sends is new in every iteration, so
 * that no iteration's bytes pass for another's.
 */
export class Interpreter {
  readonly ranks: RankState[];
  readonly #random: () => number;
  readonly #iterations: number;
  readonly #flying: Chunk[] = [];
  readonly #sent = new Map<string, Chunk[]>();
  readonly #posted = new Map<string, Chunk[]>();

  constructor(plans: readonly Plan[], seed: number, iterations: number) {
    this.#random = seededRandom(seed);
    this.#iterations = iterations;
    this.ranks = plans.map(startOf);
  }

  /** Calls `onIteration` whenever a rank ends one; throws when nothing can happen any more. */
  run(onIteration: (rank: RankState) => void = () => {}): void {
    for (;;) {
      for (const rank of this.ranks) this.#advance(rank, onIteration);
      if (this.ranks.every((rank) => rank.iteration === this.#iterations)) break;
      const choices = [
        ...this.ranks.flatMap((rank) =>
          rank.iteration === this.#iterations ? [] : [...this.#posts(rank), ...localChoices(rank)],
        ),
        ...this.#progress(),
      ];
      if (choices.length === 0) throw new Error('deadlock');
      choices[Math.floor(this.#random() * choices.length)]!();
    }
    if (this.#flying.length > 0) throw new Error('chunks are left in flight');
  }

  #advance(rank: RankState, onIteration: (rank: RankState) => void): void {
    while (rank.iteration < this.#iterations) {
      makeReady(rank);
      if (!rank.plan.steps.every((_, index) => isDone(rank, index))) return;
      onIteration(rank);
      startNextIteration(rank);
    }
  }

  #posts(rank: RankState): (() => void)[] {
    const { steps, chunkBytes, window } = rank.plan;
    const queues = new Set<string>();
    return rank.ready.flatMap((step) => {
      const post = steps[step]!;
      if (post.kind !== 'post') return [];
      if (rank.issued[step] === countOf(post, chunkBytes)) return [];
      // Writes and reads may be posted in any order; a message only when those before it are.
      const queue =
        'remote' in post ? `${post.op} ${step}` : `${post.op} ${post.peer} ${post.channel}`;
      if (queues.has(queue)) return [];
      queues.add(queue);
      if (rank.inFlight[sideOf(post)][post.channel]! >= window) return [];
      return [() => this.#issue(rank, post, step)];
    });
  }

  #issue(rank: RankState, post: PostStep, step: number): void {
    const cut = cutsOf(post, rank.plan.chunkBytes)[rank.issued[step]!]!;
    const chunk: Chunk = { step, from: rank, post, ...cut, delivered: false };
    rank.issued[step]!++;
    rank.inFlight[sideOf(post)][post.channel]!++;
    if (post.op === 'recv') queue(this.#posted, `${post.peer}>${rank.plan.rank}`).push(chunk);
    else this.#flying.push(chunk);
    if (post.op === 'send') queue(this.#sent, `${rank.plan.rank}>${post.peer}`).push(chunk);
  }

  #progress(): (() => void)[] {
    const writes = this.#flying
      .filter((chunk) => chunk.delivered || 'remote' in chunk.post)
      .map((chunk) => () => (chunk.delivered ? this.#complete(chunk) : this.#deliver(chunk)));
    const matches = [...this.#sent].flatMap(([pair, sent]) => {
      const posted = queue(this.#posted, pair);
      if (sent.length === 0 || posted.length === 0) return [];
      return [() => this.#match(sent.shift()!, posted.shift()!)];
    });
    return [...writes, ...matches];
  }

  #deliver(chunk: Chunk): void {
    const { post, from, local, remote, bytes } = chunk;
    const peer = this.ranks[post.peer]!;
    chunk.delivered = true;
    if (post.op === 'read') {
      land(from, local, peer.buffers.source, remote, bytes);
      return;
    }
    if (post.op !== 'write') throw new Error('only writes and reads are delivered so');
    land(peer, remote, from.buffers[post.local.buffer], local, bytes);
    const key = `${from.plan.rank}/${post.slot}`;
    peer.arrivals.set(key, (peer.arrivals.get(key) ?? 0) + 1);
  }

  #match(sent: Chunk, posted: Chunk): void {
    if (sent.bytes !== posted.bytes) throw new Error('a message and its receive differ in length');
    land(posted.from, posted.local, sent.from.buffers.source, sent.local, sent.bytes);
    sent.delivered = true;
    posted.from.finished[posted.step]!++;
    posted.from.inFlight.in[posted.post.channel]!--;
  }

  #complete(chunk: Chunk): void {
    this.#flying.splice(this.#flying.indexOf(chunk), 1);
    chunk.from.finished[chunk.step]!++;
    chunk.from.inFlight.out[chunk.post.channel]!--;
  }
}

function queue(queues: Map<string, Chunk[]>, pair: string): Chunk[] {
  const found = queues.get(pair) ?? [];
  queues.set(pair, found);
  return found;
}
