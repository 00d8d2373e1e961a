import type { Engine, Expected } from '../engine/engine.js';
import type { Mismatch } from '../memory/buffer.js';
import type { Plan } from '../plan/plan.js';
import type { Block, Traffic } from '../plan/traffic.js';

/** What one rank found in its target buffer. */
export interface Checked {
  readonly bytes: number;
  readonly wrong: number;
  readonly first?: WrongByte;
  /** Bytes that were not there when the count of arrivals said so, though they arrived later. */
  readonly late?: { readonly bytes: number; readonly first: WrongByte };
}

interface WrongByte {
  readonly rank: number;
  readonly peer: number;
  /** In the block from that peer. */
  readonly offset: number;
  readonly expected: number;
  readonly found: number;
}

/** Seeds of one check are apart by more than any world is large. */
const seedsPerCheck = 2 ** 17;

/** As much of an engine as a check needs. */
type Checkable = Pick<Engine, 'rank' | 'target' | 'run'> & {
  readonly source: Pick<Engine['source'], 'fill'>;
};

/** A seed no other check of this run uses. */
export const seedOfCheck = (runSeed: number, check: number): number =>
  runSeed + check * seedsPerCheck;

/**
 * One untimed iteration with a pattern that was never there before: every source byte depends on its rank and
 * place, every target byte is first overwritten with another pattern, and every byte that should have come is
 * compared twice: when the count of arrivals says that it is there, and after the iteration. The engine's own barriers
 * keep other iterations out.
 */
export async function verifyTurn(
  engine: Checkable,
  traffic: Traffic,
  plan: Plan,
  seed: number,
): Promise<Checked> {
  return (await verifyTimed(engine, traffic, plan, seed)).checked;
}

/** The same, with how long the iterations took: a first idea of what a longer run would take. */
export async function verifyTimed(
  engine: Checkable,
  traffic: Traffic,
  plan: Plan,
  seed: number,
  iterations = 1,
): Promise<{ checked: Checked; samples: Float64Array }> {
  const { rank, source, target } = engine;
  const stale = seed + seedsPerCheck / 2 + rank;
  for (const { sourceOffset, bytes } of traffic.outgoing(rank)) {
    await source.fill(seed + rank, { offset: sourceOffset, bytes, position: sourceOffset });
  }
  const incoming = traffic.incoming(rank);
  for (const { targetOffset, bytes } of incoming) {
    await target.fill(stale, { offset: targetOffset, bytes, position: targetOffset });
  }
  let late: Mismatch | undefined;
  const expecting = {
    parts: incoming.map((block) => expectedOf(block, seed)),
    late: (found: Mismatch) => {
      late = found;
    },
  };
  const samples = await engine.run(plan, { iterations, expecting });
  const checked = await checkBlocks(engine, incoming, seed);
  if (late === undefined || checked.wrong > 0) return { checked, samples };
  const first = wrongByteAt(rank, incoming, late);
  return {
    checked: { ...checked, wrong: late.wrong, late: { bytes: late.wrong, first } },
    samples,
  };
}

const expectedOf = (
  { source, targetOffset, bytes, sourceOffset }: Block,
  seed: number,
): Expected => ({
  offset: targetOffset,
  bytes,
  seed: seed + source,
  position: sourceOffset,
});

async function checkBlocks(
  { rank, target }: Checkable,
  incoming: readonly Block[],
  seed: number,
): Promise<Checked> {
  const parts: Checked[] = [];
  for (const block of incoming) {
    const { seed: own, ...range } = expectedOf(block, seed);
    const found = await target.verify(own, range);
    const first = found.wrong > 0 ? { rank, peer: block.source, ...found } : undefined;
    parts.push({ bytes: block.bytes, wrong: found.wrong, ...(first && { first }) });
  }
  return addChecked(parts);
}

/** An offset of the target buffer as one of the block it lies in. */
function wrongByteAt(rank: number, incoming: readonly Block[], { offset, ...byte }: Mismatch) {
  const from = ({ targetOffset }: Block) => offset - targetOffset;
  const block = incoming.find((one) => from(one) >= 0 && from(one) < one.bytes)!;
  return { rank, peer: block.source, offset: from(block), ...byte };
}

export function addChecked(parts: readonly Checked[]): Checked {
  const first = parts.find((part) => part.first)?.first;
  const late = parts.find((part) => part.late)?.late;
  return {
    bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
    wrong: parts.reduce((sum, part) => sum + part.wrong, 0),
    ...(first && { first }),
    ...(late && { late }),
  };
}

const hex = (byte: number): string => `0x${byte.toString(16).padStart(2, '0')}`;

/** The sentence that names a wrong byte. */
export function describeWrong({ bytes, wrong, first, late }: Checked): string {
  if (!first && late) {
    return (
      `an immediate overtook its data: on rank ${late.first.rank}, ${late.bytes} bytes from rank ` +
      `${late.first.peer} were missing when all arrivals had been counted (byte ${late.first.offset} was ` +
      `${hex(late.first.found)} instead of ${hex(late.first.expected)}); they came later`
    );
  }
  const where = first
    ? `: on rank ${first.rank}, byte ${first.offset} from rank ${first.peer} is ` +
      `${hex(first.found)} instead of ${hex(first.expected)}`
    : '';
  return `${wrong} of ${bytes} bytes are wrong${where}`;
}
