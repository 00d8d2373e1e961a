import type { Plan } from '../plan.js';
import {
  type Block,
  blockStride,
  checkBytes,
  checkCount,
  checkRank,
  checkWorld,
  type Traffic,
} from '../traffic.js';
import { type WritePlanOptions, writePlan } from '../write-plan.js';

/** Writes from one rank to others. */
export interface OneToEachTraffic {
  readonly world: number;
  readonly from: number;
  /** Default: every other rank, from the lowest up. */
  readonly to?: readonly number[];
  /** Bytes of each buffer. */
  readonly bytes: number;
  /** Independent buffers at once, dealt to the targets in turn. Default: one per target. */
  readonly buffers?: number;
}

/** The writes, and for which rank, over which channels and in which chunks they are planned. */
export interface OneToEachOptions extends OneToEachTraffic, WritePlanOptions {}

/**
 * Buffer b lies at b × stride of the source and goes to target b mod targets, where the k-th buffer
 * for that target lies at k × stride.
 */
export function oneToEachTraffic(options: OneToEachTraffic): Traffic {
  const { world, from, bytes } = options;
  checkWorld(world);
  checkRank('from', from, world);
  checkBytes('bytes', bytes);
  const to =
    options.to ?? Array.from({ length: world }, (_, rank) => rank).filter((r) => r !== from);
  checkTargets(to, from, world);
  const buffers = options.buffers ?? to.length;
  checkCount('buffers', buffers);

  const stride = blockStride(bytes);
  const blocks = Array.from({ length: buffers }, (_, index): Block => {
    const buffer = Math.floor(index / to.length);
    const target = to[index % to.length]!;
    const sourceOffset = index * stride;
    return { source: from, target, buffer, sourceOffset, targetOffset: buffer * stride, bytes };
  });
  const incoming = (rank: number) => blocks.filter((block) => block.target === rank);
  return {
    title: 'one-to-each',
    world,
    sequential: false,
    outgoing: (rank) => (rank === from ? blocks : []),
    incoming,
    sourceBytes: (rank) => (rank === from ? buffers * stride : 0),
    targetBytes: (rank) => incoming(rank).length * stride,
  };
}

function checkTargets(to: readonly number[], from: number, world: number): void {
  if (to.length === 0) throw new TypeError('there is no target to write to');
  if (new Set(to).size !== to.length) throw new TypeError('a target is named twice');
  for (const target of to) {
    checkRank('target', target, world);
    if (target === from) throw new TypeError(`rank ${from} cannot write to itself`);
  }
}

/** One rank writes to each target; targets wait for all of it; the rest of the world has an empty plan. */
export const oneToEach = (options: OneToEachOptions): Plan =>
  writePlan(oneToEachTraffic(options), options);
