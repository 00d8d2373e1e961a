import { WeftError } from '../errors.js';
import { userSignals } from '../native/process.js';
import {
  ancestors,
  describeExit,
  type Identity,
  identify,
  type Outcome,
  openWorld,
  type SpawnOptions,
  spawnRanks,
  type World,
} from '../world/index.js';
import { pinUnderLauncher } from '../world/launch/pinning.js';
import { reportExit } from '../world/launch/rank-process.js';
import { twins } from '../world/process-facts.js';
import { withLivePage } from './live-page.js';
import { describeFailure, describeWarning, exitCode, exitCodeOf } from './output/failure.js';
import { printError } from './output/print.js';
import type { ShowOptions } from './show-options.js';
import { failStopped } from './stop-signal.js';

export interface RankJob {
  readonly show: Pick<ShowOptions, 'ranks' | 'quiet' | 'verbose' | 'iface' | 'tokenFile'> &
    Partial<Pick<ShowOptions, 'live' | 'out'>>;
  /** How many ranks are started where no launcher has. Asked only there. */
  localRanks(): number;
  readonly pin: 'auto' | 'none';
  /** CUDA's numbers of the GPUs that local ranks take in turn; default: all. */
  readonly gpus?: readonly number[] | undefined;
  readonly timeoutMs: number;
  /** Run before local ranks are started; what it throws ends the command. */
  preflight(ranks: number): unknown;
  /** Starts the ranks where no launcher has, and resolves with the exit code; undefined: local ranks are started. */
  launch?(ranks: number): Promise<number> | undefined;
  /** Every rank speaks on stdout, not only rank 0. */
  readonly everyoneSpeaks?: boolean;
  /** A rank was told to end. True: it will, by itself; otherwise all ranks are told that it failed. */
  interrupted?(signal: NodeJS.Signals, world: World): boolean;
  /** What every rank does. The exit code counts on rank 0. */
  work(world: World): Promise<number>;
  /** A rank could not join or finish. Says so by itself and returns the exit code; undefined: it is said as usual. */
  failed?(error: unknown, identity: Identity): number | undefined;
}

/**
 * Runs `work` on every rank. Under a launcher, or as a rank it started itself, this process is a rank; otherwise it
 * starts this same command line once per rank and waits.
 */
export async function inRanks(job: RankJob): Promise<number> {
  const { ranks } = job.show;
  const identity = identify(process.env, { ancestors, ranks });
  const run = () => {
    if (identity.launcher === 'single') return startLocal(job);
    return identity.startsRanks ? startHere(job, identity) : joinAndWork(job, identity);
  };
  if (!showsLive(job, identity)) return run();
  // What cannot run needs no page.
  if (identity.launcher === 'single') job.preflight(job.localRanks());
  return withLivePage(job.show.out, run);
}

/** The process that the user or a launcher started: a local job's ranks leave the page to their parent. */
const showsLive = ({ show }: RankJob, { launcher, rank, startsRanks }: Identity): boolean =>
  show.live === true && launcher !== 'local' && rank === 0 && !startsRanks;

const unauthenticated =
  'weft: unauthenticated: ranks identify each other only by the launcher’s job ids; set WEFT_TOKEN or --token-file';

async function startLocal(job: RankJob): Promise<number> {
  const ranks = job.localRanks();
  if (!job.show.quiet && job.show.ranks === undefined) warnOfTwins();
  job.preflight(ranks);
  return job.launch?.(ranks) ?? spawnAndWait(job, { ranks });
}

/** A pod with several ranks: this process starts those of its host. */
const startHere = (job: RankJob, { rank, localSize }: Identity): Promise<number> =>
  spawnAndWait(job, { ranks: localSize, firstRank: rank });

async function spawnAndWait(
  { show, pin, gpus, everyoneSpeaks = false }: RankJob,
  which: Pick<SpawnOptions, 'ranks' | 'firstRank'>,
): Promise<number> {
  const started = await spawnRanks({
    ...which,
    command: process.execPath,
    args: process.argv.slice(1),
    pin,
    gpus,
    prefix: show.verbose,
    everyoneSpeaks,
  });
  return conclude(await started.done);
}

/** What a launcher started N times without telling who is who would otherwise run N jobs unnoticed. */
function warnOfTwins(): void {
  const { length } = twins();
  if (length === 0) return;
  const others = length === 1 ? 'Another process' : `${length} other processes`;
  const text = `${others} with this command line started together with this one; each runs a job of its own. `;
  const cure =
    'To make them ranks of one job, use a launcher that Weft knows, or set RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT.';
  printError(`${describeWarning(text + cure)}\n`);
}

/** Says how a job of this machine ended, where no rank has; the exit code is that of the rank to blame. */
export function conclude({ ok, failure, interrupted }: Outcome): number {
  if (interrupted) {
    printError(`weft: stopped by ${interrupted}\n`);
    return exitCode.failed;
  }
  if (ok || !failure) return exitCode.ok;
  // It was on its way out when it was told to end.
  if (failure.afterStop && failure.announced !== undefined) return failure.announced;
  // A rank that ends on purpose has said why.
  const explained = failure.report ?? failure.announced;
  if (failure.signal || failure.stopped || (explained === undefined && !failure.lastWords)) {
    printError(`weft: ${describeExit(failure)}\n`);
  }
  return failure.exitCode || exitCode.failed;
}

async function joinAndWork(job: RankJob, identity: Identity): Promise<number> {
  const { show, pin, gpus, timeoutMs, interrupted, work } = job;
  const { launcher, rank, localRank, localSize } = identity;
  const { ranks, iface, tokenFile, verbose } = show;
  let world: World | undefined;
  try {
    if (launcher !== 'local') pinUnderLauncher({ pin, gpus, localRank, localRanks: localSize });
    world = await openWorld({ timeoutMs, ranks, iface, tokenFile });
    const joined = world;
    if (rank === 0 && !world.authenticated && !show.quiet) {
      printError(`${unauthenticated}\n`);
    }
    const end = (signal: NodeJS.Signals) => {
      if (interrupted?.(signal, joined)) return void process.once(signal, end);
      void failStopped(joined, signal);
    };
    for (const signal of endingSignals()) process.once(signal, end);
    return announced(await work(world));
  } catch (caught) {
    const error = world === undefined ? caught : await world.fail(caught);
    const told = job.failed?.(error, identity);
    if (told !== undefined) return announced(told);
    // Of a local job's ranks the one that failed speaks, and rank 0, which has the results.
    const consequence =
      error instanceof WeftError && (error.code === 'PEER_LOST' || error.code === 'ABORTED');
    if (launcher !== 'local' || !consequence || rank === 0) {
      printError(`${describeFailure(error, verbose)}\n`);
    }
    return announced(exitCodeOf(error));
  } finally {
    await world?.close();
  }
}

/** SIGHUP of a rank that its parent started is left to the parent; it has a listener that ignores it. */
const endingSignals = (): readonly NodeJS.Signals[] =>
  userSignals().filter((signal) => signal !== 'SIGHUP' || process.listenerCount(signal) === 0);

/** What is known to end with another code than 0 is told to whoever started this rank. */
function announced(code: number): number {
  if (code !== exitCode.ok) reportExit(code);
  return code;
}
