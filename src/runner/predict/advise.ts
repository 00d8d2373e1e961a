import { oneToEachBytes } from '../../measure/figures.js';
import { formatNanoseconds, plural } from '../../measure/units.js';
import { oneToEach, oneToEachTraffic } from '../../plan/patterns/one-to-each.js';
import { multi, roundRobin, type Strategy, single } from '../../plan/strategies.js';
import type { FabricModel } from '../../simulate/fabric-model.js';
import type { Turn } from '../benchmark.js';
import type { ColumnMemory } from '../columns.js';
import { predictor } from './predict-row.js';

/** The simplest first: it wins where others are as fast. */
const candidates: readonly Strategy[] = [single, roundRobin, multi];
/** Less than this is no reason for a less simple strategy. */
const worthwhile = 0.01;

export const mapSizes = Array.from({ length: 19 }, (_, i) => 2 ** (12 + i));
export const mapBuffers = [1, 2, 3, 4, 5, 6, 8, 12, 16] as const;

/** Buffers that one rank writes at once, each to a peer of its own. */
export interface WriteQuestion {
  readonly fabric: FabricModel;
  readonly memory: ColumnMemory;
  readonly bytes: number;
  readonly buffers: number;
}

export interface Advice {
  readonly best: Strategy;
  readonly times: readonly { readonly strategy: Strategy; readonly nanoseconds: number }[];
  readonly reason: string;
  /** Where the answer changes while the other number stays. */
  readonly flips: readonly Flip[];
  /** The best by size, then by number of buffers. */
  readonly map: readonly (readonly Strategy[])[];
}

export interface Flip {
  readonly over: 'bytes' | 'buffers';
  /** From here on. */
  readonly from: number;
  readonly to: Strategy;
}

/** Which way to spread buffers over NICs is the fastest in a model, and why. */
export function advise(question: WriteQuestion): Advice {
  const times = timesOf(question);
  const best = bestOf(times);
  const { bytes, buffers } = question;
  return {
    best,
    times,
    reason: reasonFor(best, times, question),
    flips: [
      ...changes(mapSizes, bytes, 'bytes', (value) => ({ ...question, bytes: value })),
      ...changes(mapBuffers, buffers, 'buffers', (value) => ({ ...question, buffers: value })),
    ],
    map: mapSizes.map((size) =>
      mapBuffers.map((count) => bestOf(timesOf({ ...question, bytes: size, buffers: count }))),
    ),
  };
}

const timesOf = (question: WriteQuestion): Advice['times'] =>
  candidates.map((strategy) => ({ strategy, nanoseconds: timeOf(question, strategy) }));

function timeOf({ fabric, memory, bytes, buffers }: WriteQuestion, strategy: Strategy): number {
  const world = buffers + 1;
  const job = { world, from: 0, bytes, buffers };
  const turn: Turn = {
    traffic: oneToEachTraffic(job),
    plan: (situation) => oneToEach({ ...job, ...situation }),
    figureBytes: oneToEachBytes(bytes, buffers),
  };
  return predictor({
    clock: 'initiator',
    column: { name: strategy.title, strategy, memory },
    turns: [turn],
    world: { fabric, nodes: world, ranksPerNode: 1 },
  })(fabric);
}

function bestOf(times: Advice['times']): Strategy {
  const least = Math.min(...times.map(({ nanoseconds }) => nanoseconds));
  return times.find(({ nanoseconds }) => nanoseconds <= least * (1 + worthwhile))!.strategy;
}

function changes(
  values: readonly number[],
  own: number,
  over: Flip['over'],
  at: (value: number) => WriteQuestion,
): Flip[] {
  const sorted = [...new Set([...values, own])].sort((a, b) => a - b);
  const bests = sorted.map((value) => bestOf(timesOf(at(value))));
  return sorted.flatMap((from, i) =>
    i > 0 && bests[i] !== bests[i - 1] ? [{ over, from, to: bests[i]! }] : [],
  );
}

function reasonFor(best: Strategy, times: Advice['times'], question: WriteQuestion): string {
  const { buffers, fabric } = question;
  const nics = fabric.nicsPerRank;
  const of = (wanted: Strategy) => times.find(({ strategy }) => strategy === wanted)!.nanoseconds;
  const saving = (other: Strategy) => formatNanoseconds(of(other) - of(best));
  const most = Math.ceil(buffers / nics);
  if (best === multi) {
    const uneven =
      buffers < nics
        ? `round-robin uses only ${buffers} of the ${nics} NICs for ${plural(buffers, 'buffer')}`
        : `with round-robin the busiest NIC carries ${most} of ${buffers} buffers`;
    return `Splitting keeps all ${nics} NICs equally busy, while ${uneven}; it saves ${saving(roundRobin)}.`;
  }
  const cost = `splitting costs ${formatNanoseconds(fabric.parameters.splitMicroseconds * 1000)} for each additional channel to a peer`;
  if (best === roundRobin) {
    return `Round-robin sends the buffers over ${Math.min(buffers, nics)} NICs at once without splitting any; ${cost}, and it is ${saving(multi)} slower here.`;
  }
  return `At this size one NIC is as fast as several: additional NICs cost as much time as they save (${cost}).`;
}
