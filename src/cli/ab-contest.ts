import { type Comparison, compareRuns } from '../analysis/compare/compare.js';
import { type Look, looksOf } from '../analysis/compare/looks.js';
import { seededRandom } from '../measure/seeded-random.js';
import type { Run } from '../results/schema.js';
import { type Contest, type FailedTurn, type Side, type Stop, takeTurn } from './ab-turns.js';
import { refuseStrangers } from './compare.js';
import { StatusLine } from './output/status-line.js';

export const sides = ['a', 'b'] as const;

/** How long a contest goes on, and how it is judged. */
export interface Course {
  /** The most runs of each side. */
  readonly rounds: number;
  /** Of the random order. */
  readonly seed: number;
  /** In per cent. */
  readonly tolerance: number;
  readonly quiet: boolean;
}

/** How a contest ended. */
export interface Ended {
  readonly rounds: number;
  /** Absent where not even one run of each side is there. */
  readonly comparison?: Comparison;
  readonly stoppedEarly: boolean;
  readonly failed?: FailedTurn;
  readonly interrupted: boolean;
}

/** Runs both sides in turns until every row is decided or the rounds are over. */
export const inTurns = (made: Contest, course: Course & { abWords: string }): Promise<Ended> =>
  holdInterrupts((stop) => takeTurns(made, course, stop));

/** Ctrl-C ends the turn in work, a second one at once; what was measured before is compared. */
async function holdInterrupts<T>(work: (stop: Stop) => Promise<T>): Promise<T> {
  const [soon, atOnce] = [new AbortController(), new AbortController()];
  const end = () => (soon.signal.aborted ? atOnce : soon).abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, end);
  try {
    return await work({ soon: soon.signal, atOnce: atOnce.signal });
  } finally {
    for (const signal of signals) process.off(signal, end);
  }
}

async function takeTurns(
  made: Contest,
  given: Course & { abWords: string },
  stop: Stop,
): Promise<Ended> {
  const looks = looksOf(given.rounds);
  const random = seededRandom(given.seed);
  const startedMs = performance.now();
  const runs: Record<Side, Run[]> = { a: [], b: [] };
  const compared = ({ errorRate }: Look) =>
    compareRuns(runs.a, runs.b, {
      ...{ tolerance: given.tolerance / 100, errorRate },
      abWords: given.abWords,
    });
  using status = new StatusLine(given.quiet);
  for (let round = 1; ; round++) {
    const order: readonly Side[] = random() < 0.5 ? sides : ['b', 'a'];
    for (const side of order) {
      status.say(
        `round ${round} of ${given.rounds}: ${side.toUpperCase()}${timeLeft(startedMs, runs, given)}`,
      );
      const turn = await tryTwice(made, { side, round }, runs[side].length > 0, stop);
      if (!('code' in turn)) {
        runs[side].push(made.compareAs?.(turn) ?? turn);
        continue;
      }
      const some = runs.a.length > 0 && runs.b.length > 0;
      const last = some ? { comparison: compared(looks.at(-1)!) } : {};
      const why = stop.soon.aborted ? { interrupted: true } : { interrupted: false, failed: turn };
      return { rounds: round, stoppedEarly: false, ...last, ...why };
    }
    if (round === 1) refuseStrangers(compared(looks[0]!));
    const look = looks.find(({ rounds }) => rounds === round);
    if (look === undefined) continue;
    const comparison = compared(look);
    const decided = comparison.rows.every(({ verdict }) => verdict !== 'unclear');
    const stoppedEarly = decided && round < given.rounds;
    if (stoppedEarly || round === given.rounds)
      return { rounds: round, comparison, stoppedEarly, interrupted: false };
  }
}

/** If it goes on to the last round. */
function timeLeft(startedMs: number, { a, b }: Record<Side, Run[]>, { rounds }: Course): string {
  const done = a.length + b.length;
  if (done === 0) return '';
  const seconds = ((performance.now() - startedMs) / done / 1000) * (2 * rounds - done);
  const text = seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`;
  return `, at most ${text} left`;
}

/** Wrong usage fails again, and so does what never worked; a run that once did may have had bad luck. */
async function tryTwice(
  made: Contest,
  turn: { side: Side; round: number },
  worked: boolean,
  stop: Stop,
): Promise<Run | FailedTurn> {
  const first = await takeTurn(made, turn, stop);
  return 'code' in first && worked && !stop.soon.aborted ? takeTurn(made, turn, stop) : first;
}
