import type { Engine, Expected } from '../engine/engine.js';
import type { Mismatch } from '../memory/buffer.js';
import { numbersFor } from '../memory/numbers.js';
import type { BufferRange, Plan } from '../plan/plan.js';
import { joined } from '../plan/plan.js';
import { type Content, contentsOf, partsOf, type Traffic } from '../plan/traffic.js';

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
  /** Whose data it should be; undefined in a sum. */
  readonly peer?: number;
  /** In what came from that peer; of a sum, in the target buffer. */
  readonly offset: number;
  readonly expected: number;
  readonly found: number;
}

/** Seeds of one check are apart by more than any world is large. */
const seedsPerCheck = 2 ** 17;

/** As much of an engine as a check needs. */
type Checkable = Pick<Engine, 'rank' | 'target' | 'run'> & {
  readonly source: Pick<Engine['source'], 'fill' | 'writeNumbers'>;
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
  const { rank, target } = engine;
  const stale = seed + seedsPerCheck / 2 + rank;
  await fillSource(engine, traffic, seed);
  const contents = contentsOf(traffic, rank);
  // Thousands of tokens are filled in one call.
  for (const { offset, bytes } of joined(contents.toSorted((a, b) => a.offset - b.offset))) {
    await target.fill(stale, { offset, bytes, position: offset });
  }
  let late: Mismatch | undefined;
  const expecting = {
    parts: contents.flatMap((content) => ('copyOf' in content ? [expectedOf(content, seed)] : [])),
    late: (found: Mismatch) => {
      late = found;
    },
  };
  const samples = await engine.run(plan, { iterations, expecting });
  const checked = await checkContents(engine, traffic, contents, seed);
  if (late === undefined || checked.wrong > 0) return { checked, samples };
  const first = wrongByteAt(rank, contents, late);
  return {
    checked: { ...checked, wrong: late.wrong, late: { bytes: late.wrong, first } },
    samples,
  };
}

/** The pattern in everything that may leave, and numbers where plans add. */
async function fillSource(
  { rank, source }: Checkable,
  traffic: Traffic,
  seed: number,
): Promise<void> {
  const leaving: readonly BufferRange[] = traffic.contents
    ? [{ offset: 0, bytes: traffic.sourceBytes(rank) }]
    : traffic
        .outgoing(rank)
        .flatMap(partsOf)
        .map(({ sourceOffset: offset, bytes }) => ({ offset, bytes }));
  for (const { offset, bytes } of leaving) {
    await source.fill(seed + rank, { offset, bytes, position: offset });
  }
  if (!traffic.numbers) return;
  const parts = traffic.numbers.of(rank).map(({ offset, bytes }) => ({
    offset,
    bytes,
    sumOf: [{ seed: seed + rank, position: offset, weight: 1 }],
  }));
  await source.writeNumbers(numbersFor(traffic.numbers.dtype, traffic.numbers.weight), parts);
}

type Copied = Extract<Content, { copyOf: unknown }>;

const expectedOf = ({ offset, bytes, copyOf }: Copied, seed: number): Expected => ({
  offset,
  bytes,
  seed: seed + copyOf.rank,
  position: copyOf.offset,
});

async function checkContents(
  { rank, target }: Checkable,
  { numbers }: Traffic,
  contents: readonly Content[],
  seed: number,
): Promise<Checked> {
  const parts: Checked[] = [];
  for (const content of contents) {
    if (!('copyOf' in content)) continue;
    const { seed: own, ...range } = expectedOf(content, seed);
    const found = await target.verify(own, range);
    const first = found.wrong > 0 ? { rank, peer: content.copyOf.rank, ...found } : undefined;
    parts.push({ bytes: content.bytes, wrong: found.wrong, ...(first && { first }) });
  }
  const sums = contents.flatMap((content) => ('sumOf' in content ? [content] : []));
  if (sums.length === 0) return addChecked(parts);
  if (!numbers) throw new TypeError('traffic with sums must say which numbers it adds');
  const found = await target.compareNumbers(
    numbersFor(numbers.dtype, numbers.weight),
    sums.map(({ offset, bytes, sumOf }) => ({
      offset,
      bytes,
      sumOf: sumOf.map((one) => ({
        seed: seed + one.rank,
        position: one.offset,
        weight: one.weight ?? 1,
      })),
    })),
  );
  const first = found.wrong > 0 ? { rank, ...found } : undefined;
  const bytes = sums.reduce((sum, one) => sum + one.bytes, 0);
  return addChecked([...parts, { bytes, wrong: found.wrong, ...(first && { first }) }]);
}

/** An offset of the target buffer as one of the content it lies in. */
function wrongByteAt(rank: number, contents: readonly Content[], { offset, ...byte }: Mismatch) {
  const content = contents.find((one) => offset >= one.offset && offset < one.offset + one.bytes)!;
  const peer = 'copyOf' in content ? content.copyOf.rank : undefined;
  return { rank, ...(peer !== undefined && { peer }), offset: offset - content.offset, ...byte };
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
  const what = first?.peer === undefined ? 'of the sums' : `from rank ${first.peer}`;
  const where = first
    ? `: on rank ${first.rank}, byte ${first.offset} ${what} is ` +
      `${hex(first.found)} instead of ${hex(first.expected)}`
    : '';
  return `${wrong} of ${bytes} bytes are wrong${where}`;
}
