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

/** Changes are sought at every count up to the last one of the map, and between sizes of the map to within this factor. */
const mapCounts = Array.from({ length: mapBuffers.at(-1)! }, (_, i) => i + 1);
const closeness = 1.02;

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
  /** The answers while the other number stays, in order; they cover the sizes and the counts that were tried. */
  readonly spans: readonly Span[];
  /** The best by size, then by number of buffers. */
  readonly map: readonly (readonly Strategy[])[];
}

/** From one size or count to another, both included, one answer; between two spans the answer is not known. */
export interface Span {
  readonly over: 'bytes' | 'buffers';
  readonly from: number;
  readonly to: number;
  readonly best: Strategy;
}

/** Which way to spread buffers over NICs is the fastest in a model, and why. */
export function advise(question: WriteQuestion): Advice {
  const times = timesOf(question);
  const best = bestOf(times);
  const { bytes, buffers } = question;
  const counts = inOrder([...mapCounts, buffers]);
  return {
    best,
    times,
    reason: reasonFor(best, times, question),
    spans: [
      ...spansOfSizes(bytes, (value) => fastest({ ...question, bytes: value })),
      ...spansOf('buffers', counts, (value) => fastest({ ...question, buffers: value })),
    ],
    map: mapSizes.map((size) =>
      mapBuffers.map((count) => fastest({ ...question, bytes: size, buffers: count })),
    ),
  };
}

/** The answer alone. */
export const fastest = (question: WriteQuestion): Strategy => bestOf(timesOf(question));

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

/** Neighbouring values with the same answer are one span; counts are neighbours only where none is between them. */
function spansOf(
  over: Span['over'],
  values: readonly number[],
  bestAt: (value: number) => Strategy,
): Span[] {
  const spans: Span[] = [];
  for (const value of values) {
    const best = bestAt(value);
    const last = spans.at(-1);
    const isNext = over === 'bytes' || value - 1 === last?.to;
    if (last?.best === best && isNext) spans[spans.length - 1] = { ...last, to: value };
    else spans.push({ over, from: value, to: value, best });
  }
  return spans;
}

/** With the sizes on both sides of every change between two sizes of the map. */
function spansOfSizes(own: number, bestAt: (bytes: number) => Strategy): Span[] {
  const known = new Map<number, Strategy>();
  const ask = (bytes: number): Strategy => {
    const best = known.get(bytes) ?? bestAt(bytes);
    known.set(bytes, best);
    return best;
  };
  const halfway = (low: number, high: number) => Math.round(Math.sqrt(low * high));
  const search = (low: number, high: number): void => {
    if (ask(low) === ask(high) || high <= Math.max(low + 1, low * closeness)) return;
    const middle = halfway(low, high);
    search(low, middle);
    search(middle, high);
  };
  const sizes = inOrder([...mapSizes, own]);
  const finer = inOrder([...sizes, ...sizes.slice(1).map((size, i) => halfway(sizes[i]!, size))]);
  for (const [i, size] of finer.slice(1).entries()) search(finer[i]!, size);
  return spansOf('bytes', inOrder([...known.keys()]), ask);
}

const inOrder = (values: readonly number[]): number[] => [...new Set(values)].sort((a, b) => a - b);

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
