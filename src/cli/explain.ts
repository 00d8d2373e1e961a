import { WeftError } from '../errors.js';
import { explain } from '../plan/explain.js';
import { type Drawn, isPlanned, type Turn } from '../runner/benchmark.js';
import { columnsOf } from '../runner/columns.js';
import { type Job, rowSizes, situationOf, turnsOf } from '../runner/job.js';
import { preferredPacing, windowFor } from '../session/pacing.js';
import { stdoutTerminal } from './output/terminal.js';

/** The plans of the largest size, one drawing per strategy; or what a benchmark says of itself. */
export function explainJob(job: Job, world: number): string {
  const { benchmark, settings } = job;
  if (!isPlanned(benchmark) && benchmark.fabric === true && benchmark.explain) {
    return benchmark.explain(job, world);
  }
  const channels = settings.channels ?? settings.nics?.length ?? 1;
  const links = Array.from({ length: channels }, (_, channel) => ({
    nic: settings.nics?.[channel],
    lineRateGbps: settings.lineRateGbps,
  }));
  const pacing = preferredPacing(settings.provider ?? 'shm');
  const chunkBytes =
    isPlanned(benchmark) && benchmark.wholeMessages
      ? rowSizes({ ...job, benchmark }).at(-1)!
      : (settings.chunkBytes ?? pacing.chunkBytes);
  return drawnOf(job, world)
    .map(({ turn, ...drawn }) => {
      const how = {
        chunkBytes: Math.max(1, chunkBytes),
        window: settings.window ?? windowFor(pacing, drawn.operationBytes),
      };
      const { strategy } = drawn;
      return explain({
        ...drawn,
        ...how,
        links,
        unicode: stdoutTerminal().unicode,
        ...(turn && {
          planOf: (rank: number) => turn.plan({ ...how, rank, channels, strategy }),
          unbounded: turn.within !== undefined,
        }),
      });
    })
    .join('\n');
}

interface DrawnTurn extends Drawn {
  readonly operationBytes?: number | undefined;
  readonly turn?: Turn;
}

function drawnOf(job: Job, world: number): DrawnTurn[] {
  const { benchmark, settings } = job;
  if (isPlanned(benchmark)) {
    const planned = { ...job, benchmark };
    const bytes = rowSizes(planned).at(-1)!;
    // Memory makes no difference to a plan.
    const columns = columnsOf(benchmark, settings.columns).filter(
      ({ strategy, variant }, index, all) =>
        all.findIndex((one) => one.strategy === strategy && one.variant === variant) === index,
    );
    const hosts = Array.from({ length: world }, () => 'this host');
    return columns.map((column) => {
      const [turn] = turnsOf(planned, hosts, bytes, column);
      const { strategy } = column;
      const situation = situationOf(planned, hosts, bytes, column);
      const operationBytes = benchmark.operationBytes?.(situation);
      return { traffic: turn!.traffic, strategy, operationBytes, turn: turn! };
    });
  }
  const drawn = benchmark.fabric === 'own' ? benchmark.traffic?.(job, world) : undefined;
  if (drawn) return [drawn];
  throw new WeftError(
    'BAD_USAGE',
    `${benchmark.id} is not a single plan, so --explain cannot draw it`,
    { hint: 'Use --explain with a benchmark made of plans, such as write or all2all.' },
  );
}
