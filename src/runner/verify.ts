import type { Engine } from '../engine/engine.js';
import type { Plan } from '../plan/plan.js';
import type { Traffic } from '../plan/traffic.js';

/** What one rank found in its target buffer. */
export interface Checked {
  readonly bytes: number;
  readonly wrong: number;
  readonly first?: WrongByte;
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
 * compared. The engine's own barriers keep other iterations out.
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
  const samples = await engine.run(plan, { iterations });
  let checked: Checked = { bytes: 0, wrong: 0 };
  for (const block of incoming) {
    const found = await target.verify(seed + block.source, {
      offset: block.targetOffset,
      bytes: block.bytes,
      position: block.sourceOffset,
    });
    const first = found.wrong > 0 ? { rank, peer: block.source, ...found } : undefined;
    checked = addChecked([
      checked,
      { bytes: block.bytes, wrong: found.wrong, ...(first && { first }) },
    ]);
  }
  return { checked, samples };
}

export function addChecked(parts: readonly Checked[]): Checked {
  const first = parts.find((part) => part.first)?.first;
  return {
    bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
    wrong: parts.reduce((sum, part) => sum + part.wrong, 0),
    ...(first && { first }),
  };
}

const hex = (byte: number): string => `0x${byte.toString(16).padStart(2, '0')}`;

/** The sentence that names a wrong byte. */
export function describeWrong({ bytes, wrong, first }: Checked): string {
  const where = first
    ? `: on rank ${first.rank}, byte ${first.offset} from rank ${first.peer} is ` +
      `${hex(first.found)} instead of ${hex(first.expected)}`
    : '';
  return `${wrong} of ${bytes} bytes are wrong${where}`;
}
