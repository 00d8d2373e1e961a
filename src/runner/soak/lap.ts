import type { Silence } from '../../engine/engine.js';
import type { SeenDown } from '../../session/path/link-watch.js';
import type { PathTally } from '../../session/path/path-meter.js';
import type { Pause, Pulse } from '../../session/path/pulse.js';
import { tcpResent } from '../../session/path/tcp-resent.js';
import type { Ready } from '../runner.js';
import type { Count } from '../timing.js';

/** One timed loop of a soak, as rank 0 decides it. */
export interface Lap {
  readonly cell: number;
  readonly turn: number;
  readonly count: Count;
  /** Silences longer than this are recorded. */
  readonly silenceMs: number;
}

/** What a rank tells of a lap. Times are milliseconds since its loop began on that rank. */
export interface LapReport {
  /** Empty where they do not count. */
  readonly samples: Float64Array;
  /** Of the loop with its barriers. */
  readonly wallMs: number;
  readonly silences: readonly Silence[];
  readonly links: readonly SeenDown[];
  readonly pauses: readonly Pause[];
  /** TCP segments that its host sent again; from the first rank of each host. */
  readonly resent?: number | undefined;
  /** The signal by which this rank was asked to end. */
  readonly stop?: string | undefined;
}

export interface LapPlace {
  readonly ready: Ready;
  readonly tally: PathTally;
  readonly pulse: Pulse;
  /** This rank's samples count. */
  readonly counts: boolean;
  /** This rank reads the counters of its host. */
  readonly first: boolean;
}

export async function runLap(lap: Lap, place: LapPlace): Promise<LapReport> {
  const { ready, tally, pulse, counts, first } = place;
  const plan = ready.plans[lap.turn]!;
  const resentBefore = first ? tcpResent() : undefined;
  let silences: readonly Silence[] = [];
  let [startMs, wallMs] = [0, 0];
  const watching = {
    silenceMs: lap.silenceMs,
    heard: (all: readonly Silence[]) => {
      silences = all;
    },
  };
  const samples = await tally.during([{ plan, iterations: lap.count.iterations }], async () => {
    startMs = performance.now();
    const timed = await ready.engine.run(plan, { ...lap.count, watching });
    wallMs = performance.now() - startMs;
    return timed;
  });
  const resent = resentBefore === undefined ? undefined : (tcpResent() ?? 0) - resentBefore;
  return {
    samples: counts ? samples : new Float64Array(),
    wallMs,
    silences,
    ...pulse.take(startMs),
    resent,
  };
}
