import { seededRandom } from '../../src/measure/seeded-random.js';
import {
  type CopyStep,
  chunksOf,
  type Plan,
  type PlanBuffer,
  type PostStep,
  type Step,
} from '../../src/plan/plan.js';
import { addUp } from './numbers.js';
import { bytesToSend } from './source-bytes.js';

/** What a buffer holds before anything comes into it. */
const staleByte = 0xee;

interface Chunk {
  readonly step: number;
  readonly from: RankState;
  readonly post: PostStep;
  /** Offsets in the local and in the peer's buffer. */
  readonly local: number;
  readonly remote: number;
  readonly bytes: number;
  delivered: boolean;
}

interface Copying {
  readonly step: number;
  /** What was read, between its start and its end. */
  taken: Uint8Array[] | undefined;
}

interface RankState {
  readonly plan: Plan;
  readonly buffers: Readonly<Record<PlanBuffer, Uint8Array>>;
  /** Where the bytes must be in the end: the target, or the device buffer behind it. */
  readonly target: Uint8Array;
  /** How often each byte of `target` was written. */
  readonly writes: Uint32Array;
  /** Copies that are ready, oldest first, by direction. */
  readonly copies: { toDevice: Copying[]; fromDevice: Copying[] };
  /** Steps of this iteration in the order in which they became ready. */
  ready: number[];
  /** Cumulative over iterations, as the executor counts. */
  readonly arrivals: Map<string, number>;
  /** Per channel, outgoing chunks and posted receives apart. */
  readonly inFlight: { out: number[]; in: number[] };
  iteration: number;
  /** Nanoseconds since the iteration began. */
  time: number;
  issued: number[];
  finished: number[];
}

/** Whether it works in device buffers. */
export const isStaged = ({ steps }: Plan): boolean =>
  steps.some((step) => step.kind === 'copy' || (step.kind === 'sum' && step.device));

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
    this.ranks = plans.map((plan) => {
      const staged = isStaged(plan);
      const stale = (bytes: number) => new Uint8Array(bytes).fill(staleByte);
      const buffers = {
        source: staged ? stale(plan.sourceBytes) : bytesToSend(plan, 0),
        target: stale(plan.targetBytes),
        sourceDevice: staged ? bytesToSend(plan, 0) : stale(0),
        targetDevice: stale(staged ? plan.targetBytes : 0),
      };
      return {
        plan,
        buffers,
        target: staged ? buffers.targetDevice : buffers.target,
        writes: new Uint32Array(plan.targetBytes),
        copies: { toDevice: [], fromDevice: [] },
        ready: [],
        arrivals: new Map(),
        inFlight: {
          out: new Array<number>(plan.channels).fill(0),
          in: new Array<number>(plan.channels).fill(0),
        },
        iteration: 0,
        time: 0,
        issued: plan.steps.map(() => 0),
        finished: plan.steps.map(() => 0),
      };
    });
  }

  /** Calls `onIteration` whenever a rank ends one; throws when nothing can happen any more. */
  run(onIteration: (rank: RankState) => void = () => {}): void {
    for (;;) {
      for (const rank of this.ranks) this.#advance(rank, onIteration);
      if (this.ranks.every((rank) => rank.iteration === this.#iterations)) break;
      const choices = [
        ...this.ranks.flatMap((rank) => [
          ...this.#posts(rank),
          ...this.#copying(rank),
          ...this.#adding(rank),
          ...this.#waiting(rank),
        ]),
        ...this.#progress(),
      ];
      if (choices.length === 0) throw new Error('deadlock');
      choices[Math.floor(this.#random() * choices.length)]!();
    }
    if (this.#flying.length > 0) throw new Error('chunks are left in flight');
  }

  #isDone(rank: RankState, index: number): boolean {
    const step = rank.plan.steps[index]!;
    if (step.after.some((earlier) => !this.#isDone(rank, earlier))) return false;
    if (step.kind === 'join') return (step.notBefore ?? 0) <= rank.time;
    if (step.kind === 'copy' || step.kind === 'sum') return rank.finished[index] === 1;
    const chunks = countOf(step, rank.plan.chunkBytes);
    if (step.kind !== 'wait') return rank.finished[index] === chunks;
    const arrived = rank.arrivals.get(`${step.source}/${step.slot}`) ?? 0;
    return arrived >= chunks * (rank.iteration + 1);
  }

  #advance(rank: RankState, onIteration: (rank: RankState) => void): void {
    while (rank.iteration < this.#iterations) {
      this.#makeReady(rank);
      if (!rank.plan.steps.every((_, index) => this.#isDone(rank, index))) return;
      onIteration(rank);
      rank.iteration++;
      rank.time = 0;
      rank.ready = [];
      rank.buffers.sourceDevice.set(
        bytesToSend(rank.plan, rank.iteration).subarray(0, rank.buffers.sourceDevice.length),
      );
      rank.issued = rank.plan.steps.map(() => 0);
      rank.finished = rank.plan.steps.map(() => 0);
    }
  }

  #makeReady(rank: RankState): void {
    const known = new Set(rank.ready);
    rank.plan.steps.forEach((step, index) => {
      if (known.has(index) || step.after.some((earlier) => !this.#isDone(rank, earlier))) return;
      rank.ready.push(index);
      if (step.kind === 'copy') rank.copies[wayOf(step)].push({ step: index, taken: undefined });
    });
  }

  #posts(rank: RankState): (() => void)[] {
    if (rank.iteration === this.#iterations) return [];
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

  /** The time of the next join comes. */
  #waiting(rank: RankState): (() => void)[] {
    if (rank.iteration === this.#iterations) return [];
    const times = rank.plan.steps.flatMap((step) =>
      step.kind === 'join' && (step.notBefore ?? 0) > rank.time ? [step.notBefore!] : [],
    );
    const pass = () => {
      rank.time = Math.min(...times);
    };
    return times.length === 0 ? [] : [pass];
  }

  #adding(rank: RankState): (() => void)[] {
    if (rank.iteration === this.#iterations) return [];
    return rank.ready.flatMap((index) => {
      const step = rank.plan.steps[index]!;
      if (step.kind !== 'sum' || rank.finished[index] === 1) return [];
      const add = () => {
        const { buffers } = rank;
        const device = { source: buffers.sourceDevice, target: buffers.targetDevice };
        for (const part of step.parts) addUp(step.dtype, part, step.device ? device : buffers);
        rank.finished[index] = 1;
      };
      return [add];
    });
  }

  #copying(rank: RankState): (() => void)[] {
    return Object.values(rank.copies).flatMap((queue) => {
      const [copying] = queue;
      if (copying === undefined) return [];
      const { from, to, parts: some } = rank.plan.steps[copying.step] as CopyStep;
      const parts = some ?? [{ from: from.offset, to: to.offset, bytes: from.bytes }];
      if (copying.taken === undefined) {
        const read = () => {
          copying.taken = parts.map((part) =>
            rank.buffers[from.buffer].slice(part.from, part.from + part.bytes),
          );
        };
        return [read];
      }
      const { taken } = copying;
      const write = () => {
        for (const [i, part] of parts.entries()) {
          rank.buffers[to.buffer].set(taken[i]!, part.to);
          if (to.buffer === 'targetDevice') countWrites(rank, part.to, part.bytes);
        }
        rank.finished[copying.step]!++;
        queue.shift();
      };
      return [write];
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

const sideOf = (post: PostStep): 'in' | 'out' => (post.op === 'recv' ? 'in' : 'out');

function countOf(step: Step, chunkBytes: number): number {
  if (step.kind === 'wait') return chunksOf(step, chunkBytes);
  return step.kind === 'post' ? cutsOf(step, chunkBytes).length : 1;
}

const knownCuts = new WeakMap<
  PostStep,
  readonly { local: number; remote: number; bytes: number }[]
>();

/** The chunks of a transfer, part by part. */
function cutsOf(post: PostStep, chunkBytes: number) {
  const known = knownCuts.get(post);
  if (known) return known;
  const { offset: local, bytes } = post.local;
  const whole = { local, remote: 'remote' in post ? post.remote.offset : 0, bytes };
  const parts = ('parts' in post && post.parts) || [whole];
  const cuts = parts.flatMap((part) =>
    Array.from({ length: Math.max(1, Math.ceil(part.bytes / chunkBytes)) }, (_, i) => ({
      local: part.local + i * chunkBytes,
      remote: part.remote + i * chunkBytes,
      bytes: Math.min(chunkBytes, part.bytes - i * chunkBytes),
    })),
  );
  knownCuts.set(post, cuts);
  return cuts;
}

function queue(queues: Map<string, Chunk[]>, pair: string): Chunk[] {
  const found = queues.get(pair) ?? [];
  queues.set(pair, found);
  return found;
}

function land(to: RankState, at: number, from: Uint8Array, fromAt: number, bytes: number): void {
  if (at + bytes > to.buffers.target.length)
    throw new Error('a chunk ends outside the target buffer');
  if (fromAt + bytes > from.length)
    throw new Error('a chunk ends outside the buffer it comes from');
  to.buffers.target.set(from.subarray(fromAt, fromAt + bytes), at);
  if (to.target === to.buffers.target) countWrites(to, at, bytes);
}

function countWrites(rank: RankState, at: number, bytes: number): void {
  for (let i = at; i < at + bytes; i++) rank.writes[i]!++;
}

const wayOf = ({ to }: CopyStep): 'toDevice' | 'fromDevice' =>
  to.buffer === 'targetDevice' ? 'toDevice' : 'fromDevice';
