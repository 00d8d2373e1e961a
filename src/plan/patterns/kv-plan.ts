import type { JoinStep, Mark, Plan, ReadStep, Step } from '../plan.js';
import type { Block, Traffic } from '../traffic.js';
import {
  type PlacedPiece,
  placePieces,
  planFor,
  type WritePlanOptions,
  waitFor,
  writeOf,
} from '../write-plan.js';

/**
 * The plan of one rank for the traffic of `kvTraffic`, and for a decode rank the steps that end when all pages of a
 * request are there.
 *
 * The decode rank starts every request, at its time: in a push it asks for the pages with an empty write, as a server
 * would send its page table, and the prefill rank writes them; in a pull it reads them, and then releases them with an
 * empty write. So the clock of the decode rank alone sees the whole of a request.
 */
export function kvPlan(traffic: Traffic, options: WritePlanOptions): { plan: Plan; marks: Mark[] } {
  const { rank } = options;
  const steps = new Steps(options);
  for (const block of traffic.outgoing(rank)) {
    const { target: source, buffer: slot } = block;
    const told = steps.add({ kind: 'wait', source, slot, offset: 0, bytes: 0, after: [] });
    if (traffic.readable) continue;
    for (const piece of steps.pieces(block)) steps.add({ ...writeOf(block, piece), after: [told] });
  }
  const marks = traffic.incoming(rank).map((block) => ({
    steps: [traffic.readable ? addPull(steps, block) : addPush(steps, block)],
    since: block.notBefore ?? 0,
  }));
  return { plan: planFor(traffic, options, steps.all), marks };
}

class Steps {
  readonly all: Step[] = [];
  readonly #options: WritePlanOptions;

  constructor(options: WritePlanOptions) {
    this.#options = options;
  }

  add(step: Step): number {
    return this.all.push(step) - 1;
  }

  pieces(block: Block): PlacedPiece[] {
    return placePieces(block, this.#options.strategy, this.#options.channels);
  }

  join(after: readonly number[], notBefore?: number): number {
    const step: JoinStep = { kind: 'join', after, ...(notBefore && { notBefore }) };
    return this.add(step);
  }

  /** What later steps come after to start with the request. */
  start({ notBefore }: Block): number[] {
    return notBefore ? [this.join([], notBefore)] : [];
  }

  /** An empty write to the rank that has the pages. */
  tell(block: Block, after: readonly number[]): void {
    const { channel } = this.pieces(block)[0]!;
    this.add({
      ...{ kind: 'post', op: 'write', channel, peer: block.source, slot: block.buffer, after },
      local: { buffer: 'source', offset: 0, bytes: 0 },
      remote: { offset: 0 },
    });
  }
}

function addPush(steps: Steps, block: Block): number {
  steps.tell(block, steps.start(block));
  return steps.join(steps.pieces(block).map((piece) => steps.add(waitFor(block, piece))));
}

function addPull(steps: Steps, block: Block): number {
  const after = steps.start(block);
  const done = steps.join(
    steps.pieces(block).map((piece) => steps.add(readOf(block, piece, after))),
  );
  steps.tell(block, [done]);
  return done;
}

/** The step with which the block's target fetches a piece of it. */
function readOf(block: Block, piece: PlacedPiece, after: readonly number[]): ReadStep {
  const { local, remote, parts, channel } = writeOf(block, piece);
  return {
    ...{ kind: 'post', op: 'read', channel, peer: block.source, after },
    local: { buffer: 'target', offset: remote.offset, bytes: local.bytes },
    remote: { offset: local.offset },
    ...(parts && {
      parts: parts.map((part) => ({ local: part.remote, remote: part.local, bytes: part.bytes })),
    }),
  };
}
