import type { DiskKind } from './place.js';
import type { Scene } from './scene.js';

/** Where a job is when the fault strikes; hold.mjs says where each of them is held. */
export const phases = {
  join: 'join',
  'set-up': 'set-up',
  'first-row': 'write-out of the first row',
  verify: 'verify',
  calibrate: 'calibrate',
  timed: 'timed loop',
  'write-out': 'write-out of the last row',
  footer: 'write-out of the last line',
  report: 'report',
  renaming: 'report, page written',
  serve: 'serve',
} as const;
export type Phase = keyof typeof phases;

/** Of a job, in order. */
export const withFirst: readonly Phase[] = [
  ...(['join', 'set-up', 'first-row', 'verify', 'calibrate', 'timed'] as const),
  ...(['write-out', 'footer'] as const),
];

/** The same without the write-out of the first row, which differs from that of the last only where rows are to come. */
export const inJob: readonly Phase[] = withFirst.filter((phase) => phase !== 'first-row');

/** What runs: a job of three ranks, or one process. */
export const worlds = {
  local: '3 local ranks',
  launched: '3 ranks of another launcher',
  lab: '3 hosts in a lab',
  alone: 'one process',
} as const;
export type World = keyof typeof worlds;

/** Something that goes wrong. */
export interface Fault {
  readonly name: string;
  /** What it hits, for the table: `rank 2`, `launcher`, `disk`. */
  readonly on: string;
  /** The process that is held in the phase; default: the rank that is hit, else rank 0. */
  readonly held?: number;
  /** How it is held; see hold.mjs. */
  readonly mode?: 'hold' | 'forever' | 'linger' | 'pass' | 'eat';
  /** Seconds of `--timeout`. Default: 20. */
  readonly timeout?: number;
  readonly disk?: DiskKind;
  readonly shm?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Words before the command. */
  readonly under?: readonly string[];
  /** Options of the benchmark besides those of every cell. */
  readonly options?: readonly string[];
  /** Before anything is started. */
  before?(scene: Scene): void | Promise<void>;
  /** When the phase is reached, before the held process goes on. */
  strike?(scene: Scene): void | Promise<void>;
  /** After it went on. */
  after?(scene: Scene): void | Promise<void>;
  /** When everything has ended. */
  tidy?(lab: string): void | Promise<void>;
}

/** How a cell must end. */
export interface Ending {
  /** Of the command; a signal where that is what ends it. Ranks of another launcher: of every rank that is not hit. */
  readonly exit: number | NodeJS.Signals;
  /** How it may end as well, with another exit code, where nobody can know which comes first. */
  readonly or?: Ending;
  /** What the user reads; `says[0]` also tells which line goes into the table. */
  readonly says: readonly RegExp[];
  /** What must not be said: blame on the innocent. */
  readonly silent?: RegExp;
  /** Of the run file; undefined: there must be none. */
  readonly file?: FileEnding | undefined;
  /** Processes that were killed all at once leave shared memory, which the next run removes. */
  readonly sweptByNextRun?: boolean;
  /** Anything else that must hold. */
  check?(scene: Scene): void | Promise<void>;
}

export interface FileEnding {
  /** `undefined`: there may be no file. */
  readonly outcome: readonly ('passed' | 'aborted' | undefined)[];
  /** Exactly. */
  readonly rows: number;
  /** The cause, where the run is aborted. */
  readonly says?: RegExp | undefined;
}

export interface Cell {
  readonly fault: Fault;
  readonly phase: Phase;
  readonly world: World;
  /** What runs, where it is not what the world says. */
  readonly runs?: string;
  readonly ends: Ending;
  /** Seconds after the fault within which docs/reliability.md promises the end. Default: see `promisedOf`. */
  readonly promised?: number;
  /** Part of `npm test`. */
  readonly chosen?: boolean;
  /** Why it is red, where it is. */
  readonly knownFailure?: string;
}

/** Seconds in which a job that goes on measures what is left of its two rows, and a process starts and works. */
export const restOfJob = 20;
/** Seconds more than promised, for a machine with two cores and ten processes that want them. */
const slack = 15;

/** What ends for a fault that struck ends at once; what goes on, or meets the fault later, does the rest of its job. */
const promisedOf = ({ fault, ends, promised }: Cell): number => {
  if (promised !== undefined) return promised;
  const strikes = fault.strike !== undefined || fault.after !== undefined;
  return strikes && ends.exit !== 0 ? 0 : restOfJob;
};

/** Seconds after the fault by which a cell must have ended. */
export const deadlineOf = (cell: Cell): number => promisedOf(cell) + slack;

/** The columns of the table that identify a cell. */
export const columnsOf = ({ fault, phase, world, runs }: Cell): string[] => [
  fault.name,
  fault.on,
  phases[phase],
  runs ?? worlds[world],
];

export const nameOf = (cell: Cell): string => columnsOf(cell).join(' · ');

/** What a run file must hold when a fault struck in this phase and rank 0 lives on. */
export function fileAt(
  phase: Phase,
  says?: RegExp,
  outcome: FileEnding['outcome'] = ['aborted'],
): FileEnding | undefined {
  if (phase === 'join') return undefined;
  // Ranks go on with their set-up until the news reaches them, and that may be past the file's header.
  if (phase === 'set-up') return { outcome: [...outcome, undefined], rows: 0, says };
  return { outcome, rows: phase === 'write-out' || phase === 'footer' ? 2 : 1, says };
}

/** The same where rank 0 ends on the spot: the row that it was to write is lost, and so is the last line. */
export function fileWithoutRankZero(phase: Phase): FileEnding | undefined {
  const file = fileAt(phase);
  if (file === undefined) return undefined;
  const unwritten = phase === 'first-row' || phase === 'write-out' ? 1 : 0;
  return { ...file, rows: file.rows - unwritten };
}

/** What is planted for a process that is alone. */
export const kept: FileEnding = { outcome: ['passed'], rows: 2 };

/** A job that everything was measured for, and that nobody missed anything of. */
export const passes: Ending = {
  exit: 0,
  says: [/verified: .* none wrong/],
  file: { outcome: ['passed'], rows: 2 },
};
