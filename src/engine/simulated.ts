import { WeftError } from '../errors.js';
import { chunksOf, isRead, isWrite, type Plan, type PostStep } from '../plan/plan.js';
import { EventQueue } from '../simulate/event-queue.js';
import { FlowNetwork } from '../simulate/flow-network.js';
import { mostTransfers } from '../simulate/period.js';
import {
  arrivalKey,
  endsOf,
  isManyNicExchange,
  isTransfer,
  markEarly,
  type Running,
  receiversOf,
  recvSlot,
  runningSteps,
} from '../simulate/running-steps.js';
import { type SimulatedWorld, Wiring } from '../simulate/wiring.js';

/** With more transfers than this, rates change at most `solutionsFor` times within the best possible time. */
const exactTransfers = 4096;
const solutionsFor = (groups: number): number => Math.max(256, 2 ** 20 / groups);

export interface SimulatedJob {
  readonly world: SimulatedWorld;
  /**
   * The plans of all ranks, or of the first few of a world in which every rank does what the rank does that is as many
   * ranks before it as there are plans (`periodOf` says how many).
   */
  readonly plans: readonly Plan[];
}

/** Kinds of events; an event is the number of a step and one of these. */
const kinds = { start: 0, done: 1, arrival: 2 } as const;
type Kind = (typeof kinds)[keyof typeof kinds];
const kindCount = 3;

const nanoseconds = (microseconds: number): number => microseconds * 1000;

/** Executes one iteration of plans in a model of a fabric; the nanoseconds of each plan's rank. Deterministic. */
export function simulatePlans(job: SimulatedJob): Float64Array {
  return new Simulation(job).run();
}

class Simulation {
  readonly #world: SimulatedWorld;
  readonly #plans: readonly Plan[];
  readonly #wiring: Wiring;
  readonly #steps: Running[];
  readonly #network: FlowNetwork;
  /** Between two changes of rates; 0: none is left out. */
  readonly #quantum: number;
  readonly #receivers: Map<number, number[]>;
  readonly #events = new EventQueue();
  /** When the CPU of each rank has posted, or completed, what it was given. */
  readonly #posted: Float64Array;
  readonly #completed: Float64Array;
  readonly #finished: Float64Array;

  constructor({ world, plans }: SimulatedJob) {
    this.#world = world;
    this.#plans = plans;
    this.#wiring = new Wiring(world, plans.length);
    this.#steps = plans.flatMap(runningSteps);
    this.#receivers = receiversOf(this.#steps, this.#plans[0]!.world);
    this.#place();
    const { capacities, paths } = this.#wiring;
    this.#network = new FlowNetwork(capacities, paths);
    const exact = this.#steps.length <= 2 * exactTransfers;
    this.#quantum = exact ? 0 : this.#bestTime() / solutionsFor(paths.length);
    [this.#posted, this.#completed, this.#finished] = [0, 1, 2].map(
      () => new Float64Array(plans.length),
    ) as [Float64Array, Float64Array, Float64Array];
  }

  run(): Float64Array {
    for (const [i, { missing }] of this.#steps.entries()) if (missing === 0) this.#ready(i, 0);
    for (let now = 0; ; ) {
      const next = Math.min(this.#events.nextTime, this.#network.nextEnd());
      if (next === Number.POSITIVE_INFINITY) break;
      now = Math.max(next, now + this.#quantum);
      this.#network.advance(now, (i, at) => this.#transferred(i, at));
      while (this.#events.nextTime <= now) {
        const at = this.#events.nextTime;
        this.#happen(this.#events.pop(), at);
      }
    }
    const stuck = this.#steps.find(({ missing }) => missing > 0);
    if (stuck) throw new TypeError(`rank ${stuck.rank} waits for something that nobody sends`);
    return this.#finished.map((at, rank) => at + this.#hostCost(rank));
  }

  /** Once in an iteration, however many of its writes depend on each other. */
  #hostCost(rank: number): number {
    const { memory, fabric } = this.#world;
    const { steps } = this.#plans[rank]!;
    const isCharged =
      memory === 'host' && isManyNicExchange(steps, (step) => this.#leaves(rank, step));
    return isCharged ? nanoseconds(fabric.parameters.hostMicroseconds) : 0;
  }

  /** Finds the way of every transfer. */
  #place(): void {
    const used = new Set<number>();
    const period = this.#plans.length;
    const { nicsPerRank } = this.#world.fabric;
    const keyOf = (rank: number, channel: number, way: 0 | 1) =>
      ((rank % period) * nicsPerRank + channel) * 2 + way;
    const transfers = this.#steps.filter(
      ({ rank, step }) => isTransfer(step) && this.#leaves(rank, step),
    );
    for (const running of transfers) {
      const { from, to, channel } = endsOf(running);
      refuseChannel(channel, nicsPerRank);
      used.add(keyOf(from, channel, 0));
      used.add(keyOf(to, channel, 1));
    }
    const duplex = (rank: number, channel: number) =>
      used.has(keyOf(rank, channel, 0)) && used.has(keyOf(rank, channel, 1));
    for (const running of transfers) {
      running.group = this.#wiring.groupOf(endsOf(running), duplex);
    }
    markEarly(transfers, this.#plans);
  }

  #leaves(rank: number, { peer }: PostStep): boolean {
    return this.#wiring.nodeOf(rank) !== this.#wiring.nodeOf(peer);
  }

  /** What the busiest link needs for its bytes. */
  #bestTime(): number {
    const { capacities, paths } = this.#wiring;
    const bytes = new Float64Array(capacities.length);
    for (const { group, step } of this.#steps) {
      if (group === undefined) continue;
      for (const link of paths[group]!) bytes[link]! += (step as PostStep).local.bytes;
    }
    return bytes.reduce((most, one, link) => Math.max(most, one / capacities[link]!), 0);
  }

  #ready(i: number, at: number): void {
    const { rank, step, group } = this.#steps[i]!;
    if (!isTransfer(step)) {
      const notBefore = step.kind === 'join' ? (step.notBefore ?? 0) : 0;
      this.#schedule(kinds.done, i, Math.max(at, notBefore));
      return;
    }
    if (group === undefined) {
      this.#schedule(kinds.done, i, at);
      this.#arrive(i, at);
      return;
    }
    const start = Math.max(at, this.#posted[rank]!);
    const chunks = step.op === 'send' ? 1 : this.#chunksOf(step, this.#plans[rank]!.chunkBytes);
    const { chunkMicroseconds } = this.#world.fabric.parameters;
    this.#posted[rank] = start + chunks * nanoseconds(chunkMicroseconds);
    this.#steps[i]!.postedAt = start + (chunks - 1) * nanoseconds(chunkMicroseconds);
    this.#schedule(kinds.start, i, start);
  }

  /** Every byte could have left the fabric; those of the last chunk have once it is posted. */
  #transferred(i: number, ended: number): void {
    const { rank, step, further, early, postedAt } = this.#steps[i]!;
    const at = Math.max(ended, postedAt);
    const { writeMicroseconds, sendMicroseconds, chunkMicroseconds } =
      this.#world.fabric.parameters;
    if (step.kind === 'post' && step.op === 'send') {
      const chunks = this.#chunksOf(step, this.#world.fabric.chunkBytes);
      const cost = nanoseconds(sendMicroseconds + (chunks - 1) * chunkMicroseconds);
      this.#schedule(kinds.done, i, at);
      this.#arrive(i, at + cost);
      return;
    }
    this.#complete(rank, at, further && !early);
    const cost = nanoseconds(writeMicroseconds);
    this.#schedule(kinds.done, i, this.#completed[rank]! + cost);
    this.#arrive(i, at + cost);
  }

  /** The CPU completes one write after the other; one on a further channel costs it time. */
  #complete(rank: number, at: number, isFurther: boolean): void {
    const cost = isFurther ? nanoseconds(this.#world.fabric.parameters.splitMicroseconds) : 0;
    this.#completed[rank] = Math.max(this.#completed[rank]!, at) + cost;
  }

  #chunksOf(step: PostStep, chunkBytes: number): number {
    const parts = 'parts' in step ? step.parts : undefined;
    return chunksOf({ bytes: step.local.bytes, parts }, chunkBytes);
  }

  /** Tells the step that waits for this transfer; nobody waits for what another reads. */
  #arrive(i: number, at: number): void {
    const { rank, step } = this.#steps[i]!;
    if (isRead(step)) return;
    const { peer, channel } = step as PostStep;
    const { world } = this.#plans[0]!;
    const target = peer % this.#plans.length;
    // Everyone moves on by the same number of ranks.
    const source = (((rank + target - peer) % world) + world) % world;
    const key = arrivalKey(world, target, source, isWrite(step) ? step.slot : recvSlot(channel));
    const receiver = this.#receivers.get(key)?.shift();
    if (receiver !== undefined) this.#schedule(kinds.arrival, receiver, at);
  }

  #schedule(kind: Kind, i: number, at: number): void {
    this.#events.push(at, i * kindCount + kind);
  }

  #happen(event: number, at: number): void {
    const i = Math.floor(event / kindCount);
    const running = this.#steps[i]!;
    switch (event % kindCount) {
      case kinds.start:
        this.#network.start(i, running.group!, (running.step as PostStep).local.bytes);
        if (running.early) this.#complete(running.rank, at, true);
        return;
      case kinds.arrival:
        this.#fulfil(i, at);
        return;
      default:
        this.#finished[running.rank] = Math.max(this.#finished[running.rank]!, at);
        for (const next of running.next) this.#fulfil(next, at);
    }
  }

  /** One of the things that a step waits for has happened. */
  #fulfil(i: number, at: number): void {
    const running = this.#steps[i]!;
    running.missing--;
    if (running.missing === 0) this.#ready(i, at);
  }
}

/** Throws if `steps`, of all plans together, are too many to simulate. */
export function refuseTooMany(steps: number): void {
  if (steps <= 2 * mostTransfers) return;
  throw new WeftError(
    'BAD_USAGE',
    `the simulation would have more than ${mostTransfers} transfers`,
    {
      hint: 'Use fewer nodes or ranks per node, or a uniform exchange without faults and without ECMP.',
    },
  );
}

function refuseChannel(channel: number, nics: number): void {
  if (channel < nics) return;
  throw new TypeError(`the plan uses channel ${channel}, but the model has ${nics} NICs per rank`);
}
