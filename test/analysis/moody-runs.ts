import type { Row, Run } from '../../src/results/schema.js';
import { runOf, sampleRow } from '../results/fixtures.js';

export const sizes = [65_536, 262_144, 1_048_576, 4_194_304];

/** About a normal deviate. */
export const bell = (random: () => number) =>
  Array.from({ length: 12 }, random).reduce((sum, one) => sum + one, -6);

export interface Luck {
  readonly random: () => number;
  /** How runs (or repeats) differ when nothing has changed. */
  readonly betweenBlocks: number;
  /** What the repeats of a run share, beyond that. */
  readonly betweenRuns?: number;
  readonly repeats: number;
  /** What is slower in this run: a size's factor. */
  readonly slower?: Readonly<Record<number, number>>;
  readonly minute?: number;
}

/** A run as a machine with moods makes it: each repeat has its own luck, and each row within it. */
export function moodyRun(luck: Luck): Run {
  const { random, betweenBlocks, betweenRuns = 0, repeats, slower = {}, minute = 0 } = luck;
  const rows: Row[] = [];
  const shared = betweenRuns === 0 ? 1 : Math.exp(betweenRuns * bell(random));
  for (let repeat = 0; repeat < repeats; repeat++) {
    const mood = shared * Math.exp(betweenBlocks * bell(random));
    for (const bytes of sizes) {
      const own = mood * Math.exp((betweenBlocks / 2) * bell(random)) * (slower[bytes] ?? 1);
      const samples = Array.from({ length: 20 }, () =>
        Math.round((bytes / 10) * own * (1 + 0.005 * bell(random))),
      );
      const row = sampleRow({ column: 'SinglePin', bytes, us: bytes / 10_000, samples });
      rows.push(repeats > 1 ? { ...row, repeat } : row);
    }
  }
  return runOf(rows, { startedAt: new Date(minute * 60_000).toISOString() });
}

/** Five runs of each side, in turns or one side after the other. */
export function sidesOf(
  luck: Omit<Luck, 'repeats' | 'minute'>,
  slower = {},
  { apart = false, repeats = 1 } = {},
) {
  const side = (own: Luck['slower'], first: number) =>
    [0, 1, 2, 3, 4].map((i) =>
      moodyRun({
        ...luck,
        repeats,
        minute: apart ? first * 5 + i : 2 * i + first,
        slower: own ?? {},
      }),
    );
  return [side({}, 0), side(slower, 1)] as const;
}
