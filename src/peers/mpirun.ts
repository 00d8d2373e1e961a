import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { randomToken } from '../world/index.js';
import { parseReports } from '../world/launch/rank-process.js';
import { type MpiName, mpiTitle } from './mpi.js';
import { hasShim } from './shims.js';

/** How a launcher ended. */
export interface LauncherEnd {
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  /** The signal that we were sent meanwhile, and passed on. */
  readonly stoppedBy: NodeJS.Signals | undefined;
  /** Some rank said why it failed, or that it would end with a code of its own. */
  readonly explained: boolean;
}

export interface RankLauncher {
  /** The program that starts the ranks. */
  readonly command: string;
  /** Why it is used. */
  readonly reason: string;
  start(job: {
    readonly ranks: number;
    readonly pin: 'auto' | 'none';
    readonly command: string;
    readonly args: readonly string[];
  }): Promise<LauncherEnd>;
}

interface MpiLauncher {
  readonly mpi: MpiName;
  readonly command: string;
}

const candidates: readonly (MpiLauncher & { readonly says: RegExp })[] = [
  { mpi: 'openmpi', command: 'mpirun.openmpi', says: /Open MPI|OpenRTE/ },
  { mpi: 'openmpi', command: 'mpirun', says: /Open MPI|OpenRTE/ },
  { mpi: 'mpich', command: 'mpiexec.hydra', says: /HYDRA/ },
];

/** The first MPI that is installed and has its shim; undefined where there is none. */
const findMpi = (): MpiLauncher | undefined =>
  candidates.find(({ mpi, command, says }) => hasShim(mpi) && says.test(versionOf(command)));

/** Whoever does not even say its version by then would not start ranks, either. */
const answerMs = 10_000;

function versionOf(command: string): string {
  try {
    return execFileSync(command, ['--version'], {
      encoding: 'utf8',
      stdio: 'pipe',
      timeout: answerMs,
    });
  } catch {
    return '';
  }
}

type MpiStart = Parameters<RankLauncher['start']>[0];

/** More ranks than cores are allowed, as with local ranks; so is root, whom we do not judge. */
function launcherArgs({ mpi }: MpiLauncher, { ranks, pin }: MpiStart): string[] {
  if (mpi === 'mpich') {
    return ['-n', String(ranks), ...(pin === 'none' ? ['-bind-to', 'none'] : [])];
  }
  const asRoot = process.getuid?.() === 0 ? ['--allow-run-as-root'] : [];
  const bind = pin === 'none' ? ['--bind-to', 'none'] : [];
  // Quiet: a rank that fails has said why, and mpirun's banner would bury it.
  return [...asRoot, '--oversubscribe', '--quiet', ...bind, '-n', String(ranks)];
}

/** MPI's ranks must be started by its own launcher; undefined where no MPI is installed. */
export function mpiLauncher(): RankLauncher | undefined {
  const found = findMpi();
  return (
    found && {
      command: found.command,
      reason: `the mpi backend needs ${mpiTitle[found.mpi]}'s launcher`,
      start: (start) => startByMpi(found, start),
    }
  );
}

/** The kernel ends mpirun, and with it the job, when this process is killed; without setpriv the job runs to its end. */
function untilWeDie(): string[] {
  const there = spawnSync('setpriv', ['--version'], { stdio: 'ignore' }).status === 0;
  return there ? ['setpriv', '--pdeathsig', 'TERM'] : [];
}

async function startByMpi(launcher: MpiLauncher, start: MpiStart): Promise<LauncherEnd> {
  const folder = mkdtempSync(join(tmpdir(), 'weft-job-'));
  const reports = join(folder, 'reports');
  writeFileSync(reports, '');
  try {
    const end = await launchAndWait(launcher, start, reports);
    return { ...end, explained: parseReports(readFileSync(reports, 'utf8')).length > 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function launchAndWait(
  launcher: MpiLauncher,
  start: MpiStart,
  reports: string,
): Promise<Omit<LauncherEnd, 'explained'>> {
  const words = [launcher.command, ...launcherArgs(launcher, start), start.command, ...start.args];
  const [command = '', ...args] = [...untilWeDie(), ...words];
  const child = spawn(command, args, {
    stdio: 'inherit',
    env: {
      ...process.env,
      WEFT_TOKEN: process.env.WEFT_TOKEN ?? randomToken(),
      WEFT_REPORT_FILE: reports,
      // Two Open MPI jobs that start at once race for the session folder they share, and one of them fails.
      OMPI_MCA_orte_tmpdir_base: dirname(reports),
      // mpirun gives its ranks a terminal of its own making: what is not for a terminal gets no colour.
      ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }),
    },
  });
  let stoppedBy: NodeJS.Signals | undefined;
  const pass = (signal: NodeJS.Signals) => {
    stoppedBy ??= signal;
    // mpirun knows no SIGHUP.
    child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
  };
  for (const signal of passedOn) process.on(signal, pass);
  try {
    const [code, signal] = await once(child, 'exit');
    return { code: code ?? undefined, signal: signal ?? undefined, stoppedBy };
  } finally {
    for (const signal of passedOn) process.off(signal, pass);
  }
}
