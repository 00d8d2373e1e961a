import { differenceFindings } from '../analysis/hosts/differences.js';
import { isWeftError, WeftError } from '../errors.js';
import type { Diagnosis } from '../results/finding.js';
import type { WorldFacts } from '../results/host-facts.js';
import { withKeptSamples } from '../results/kept-samples.js';
import { isLarge, thin } from '../results/large-matrix.js';
import { isInMatrix } from '../results/row-kinds.js';
import { outcomeOf } from '../results/rows.js';
import { RunFile } from '../results/run-file.js';
import { newRunId } from '../results/run-name.js';
import {
  type ErrorRecord,
  type Row,
  type Run,
  type RunHeader,
  runSchemaName,
} from '../results/schema.js';
import { gatherFacts } from '../session/host-facts.js';
import type { Session } from '../session/session.js';
import type { Settings } from '../settings/table.js';
import { restartsOf } from '../world/launchers/slurm-job.js';
import type { World } from '../world/world.js';
import { type Benchmark, commonKeysOf, type OpenBenchmark } from './benchmark.js';
import type { Job } from './job.js';
import { openBenchmark } from './open-benchmark.js';
import type { Listener } from './runner.js';

/** A finished run on rank 0, and where it is kept. */
export interface Recorded {
  readonly run: Run;
  readonly path: string;
  /** Why it did not come to its end. */
  readonly error?: unknown;
}

export interface RecordOptions {
  readonly job: Job;
  readonly world: World;
  /** Default: a new file in the results folder. */
  readonly out?: string | undefined;
  readonly listener: Listener;
  readonly iface?: string | undefined;
  /** Hears this rank's log; default: nobody does. */
  say?(text: string): void;
}

/**
 * Runs a benchmark on every rank; rank 0 keeps it on disk row by row and gets it back. Whatever ends the run early
 * is told to all ranks, marked in the file, and handed back with the rows there were.
 */
export async function recordRun(options: RecordOptions): Promise<Recorded | undefined> {
  const { job, world, listener, out } = options;
  const { repeats } = job.settings;
  refuseSmallWorld(job.benchmark, world);
  world.hear((rank, text) => listener.said?.(rank, text));
  const tell = (rows: readonly Row[]) => {
    for (const row of rows) listener.row(row);
  };
  let heard: Heard = { rows: tell };
  let repeat = 0;
  const recording: Listener & Heard = {
    warned: (text) => listener.warned?.(text),
    starting: (next) => listener.starting(next),
    row: (one) => recording.rows([one]),
    rows: (some) => heard.rows(repeats > 1 ? some.map((one) => ({ ...one, repeat })) : some),
    diagnosed: (diagnosis) => heard.diagnosed?.(diagnosis),
  };
  const open = () => openBenchmark({ ...options, listener: recording });
  let opened: OpenBenchmark | undefined = await open();
  // Opened anew for each repeat: what connections differ by belongs to the spread.
  const repeatedly = async () => {
    for (; repeat < repeats; repeat++) {
      opened ??= await open();
      await opened.run();
      // The last answer that a peer waits for may still need this rank's endpoints.
      await world.barrier('end of the run');
      await opened[Symbol.asyncDispose]();
      opened = undefined;
    }
  };
  try {
    const facts = await gatherFacts(world, opened.session?.fabric.library.version);
    if (world.rank !== 0) return void (await repeatedly());
    return await keepRun({ header: headerOf(job, world, opened, facts), world, out }, (kept) => {
      heard = {
        rows: (some) => {
          kept.rows(some);
          tell(some);
        },
        diagnosed: kept.diagnosed,
      };
      return repeatedly();
    });
  } finally {
    await opened?.[Symbol.asyncDispose]();
  }
}

/** What a run leaves behind. */
interface Heard {
  rows(rows: readonly Row[]): void;
  diagnosed?(diagnosis: Diagnosis): void;
}

interface Keeping {
  readonly header: RunHeader;
  readonly world: World;
  /** Default: a new file in the results folder. */
  readonly out?: string | undefined;
  /** Rows stay on disk until `body` has ended: it may run for days. */
  readonly long?: boolean;
}

/**
 * Rank 0's side of a run: every row that `body` hands over is on disk at once, and the run handed back has no samples of
 * large matrices (see large-matrix.ts). What `body` throws is told to all ranks,
 * marked in the file, and handed back with the rows there were.
 */
export async function keepRun(
  { header, world, out, long = false }: Keeping,
  body: (kept: Required<Heard>) => Promise<void>,
): Promise<Recorded> {
  const file = new RunFile(header, { path: pathOfAttempt(out, header) });
  const large = isLarge(header.world);
  const beganMs = performance.now();
  let rows: Row[] = [];
  let error: unknown;
  let diagnosis: Diagnosis | undefined;
  try {
    await body({
      rows: (some) => {
        const kept = (row: Row) => (large && isInMatrix(row) ? thin(row) : withKeptSamples(row));
        if (!long) for (const row of some) rows.push(kept(row));
        file.append(...some);
      },
      diagnosed: (found) => {
        diagnosis = {
          ...found,
          findings: [...found.findings, ...differenceFindings(header.world)],
        };
      },
    });
  } catch (caught) {
    error = await world.fail(caught);
  }
  if (long) rows = [...file.rows()];
  const errors = [...wrongData(rows), ...(error === undefined ? [] : [errorRecord(error)])];
  const outcome = error === undefined ? outcomeOf(rows) : 'aborted';
  // The clock of the host may be set while the run is on.
  const elapsedMs = Math.round(performance.now() - beganMs);
  const endedAt = new Date(Date.parse(header.startedAt) + elapsedMs).toISOString();
  const footer = { endedAt, outcome, errors, ...(diagnosis && { diagnosis }) };
  try {
    file.finish(footer);
  } catch (caught) {
    error ??= caught;
  }
  const run: Run = { ...header, ...footer, rows };
  return { run, path: file.path, ...(error !== undefined && { error }) };
}

export function refuseSmallWorld(benchmark: Benchmark, world: World): void {
  if (world.size >= benchmark.ranks.min) return;
  throw new WeftError(
    'BAD_USAGE',
    `${benchmark.id} needs at least ${benchmark.ranks.min} ranks, not ${world.size}`,
    { hint: 'Use `ranks` here, or start more under torchrun, srun or mpirun.' },
  );
}

export function headerOf(
  { benchmark, settings, options }: Job,
  world: World,
  opened: Pick<OpenBenchmark, 'session' | 'record'>,
  facts: WorldFacts | undefined,
) {
  const startedAt = new Date();
  const own = Object.keys(options).length > 0 ? { own: options } : {};
  const restarts = restartsOf(process.env);
  return {
    schema: runSchemaName,
    id: newRunId(benchmark.id, startedAt),
    benchmark: benchmark.id,
    startedAt: startedAt.toISOString(),
    world: {
      ranks: world.size,
      hosts: [...new Set(world.hosts)],
      launcher: world.launcher,
      hostOfRank: [...world.hosts],
      ...(facts && { facts }),
    },
    fabric: fabricOf(opened.session),
    settings: JSON.parse(
      JSON.stringify({
        ...taken(benchmark, settings),
        ...own,
        ...opened.record,
        authenticated: world.authenticated,
        ...(restarts > 0 && { attempt: restarts + 1 }),
      }),
    ),
  } satisfies RunHeader;
}

/** A job that Slurm starts again runs the same command line: its file of the attempt before stays. */
function pathOfAttempt(out: string | undefined, { settings }: RunHeader): string | undefined {
  if (out === undefined || settings.attempt === undefined) return out;
  return out.replace(/(\.[^./]*)?$/, `-attempt${settings.attempt}$1`);
}

/** The settings that had an effect. */
const taken = (benchmark: Benchmark, settings: Settings) =>
  Object.fromEntries(commonKeysOf(benchmark).map((key) => [key, settings[key]]));

const noFabric = { library: null, version: null, provider: null, channels: [] };

/** What a run file says of the fabric. */
function fabricOf(
  session: Pick<Session, 'fabric' | 'links' | 'path'> | undefined,
): RunHeader['fabric'] {
  if (!session) return noFabric;
  const { fabric, links, path } = session;
  return {
    library: fabric.library.path,
    version: fabric.library.version,
    provider: fabric.provider,
    channels: links.map((link) => ({
      nic: link.nic ?? null,
      lineRateGbps: link.lineRateGbps ?? null,
    })),
    ...(fabric.localShm && { localShm: fabric.localShm }),
    ...(path.routes.emulated && { emulated: true }),
    ...(path.routes.emulatedWrites && { emulatedWrites: true }),
  };
}

/** A wrong byte fails the run, not only its row. */
const wrongData = (rows: readonly Row[]): ErrorRecord[] =>
  rows
    .filter((row) => row.checked.wrong > 0)
    .map((row) => ({
      code: 'DATA_WRONG',
      message: `${row.column} at ${row.bytes} bytes: ${row.reason}`,
    }));

function errorRecord(error: unknown): ErrorRecord {
  if (!isWeftError(error)) return { code: 'INTERNAL', message: String(error) };
  return { code: error.code, message: error.message, ...(error.hint && { hint: error.hint }) };
}
