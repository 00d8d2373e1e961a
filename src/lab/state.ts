import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { WeftError } from '../errors.js';
import { startTime } from '../native/process.js';

/** What a lab is to be: hosts with NICs on rails, every NIC and switch port shaped. */
const specSchema = z.object({
  hosts: z.number(),
  nics: z.number(),
  /** Of one NIC in each direction, as the shaper counts: Ethernet frames with their headers. */
  bitsPerSecond: z.number(),
  mtu: z.number(),
  /** How long a frame may wait at a full port before it is dropped. */
  queueMs: z.number(),
  /** TCP's congestion control on the rails. */
  congestion: z.string(),
  delayMs: z.number().optional(),
  lossPercent: z.number().optional(),
  /** Switches that hosts are attached to, below one spine per rail; absent: all hosts share a switch per rail. */
  leaves: z.number().optional(),
  /** Of the link between a leaf and the spine of a rail, in each direction; absent: not limited. */
  spineBitsPerSecond: z.number().optional(),
  /** The kind of machine whose EFA devices every host has. */
  efa: z.string().optional(),
});

const faultSchema = z.object({
  host: z.number(),
  nic: z.number(),
  bitsPerSecond: z.number().optional(),
  lossPercent: z.number().optional(),
  down: z.boolean().optional(),
  /** Which way rate and loss are meant: what the host sends, what it receives; absent: both. */
  direction: z.enum(['out', 'in']).optional(),
  /** How the NIC's EFA device misbehaves. */
  device: z.record(z.string(), z.string()).optional(),
});

const stateSchema = z.object({
  schema: z.literal('weft.lab/1'),
  name: z.string(),
  spec: specSchema,
  /** The process without which the lab has no reason to be: the one that builds it, or runs its one run. */
  owner: z.object({ pid: z.number(), started: z.string() }).optional(),
  faults: z.array(faultSchema),
});

export type LabSpec = Readonly<z.infer<typeof specSchema>>;
export type LabState = z.infer<typeof stateSchema>;
export type Fault = z.infer<typeof faultSchema>;

/** Gone after a reboot, as the namespaces are. */
const folder = '/run/weft-lab';
const pathOf = (name: string): string => join(folder, `${name}.json`);

/** Where a lab with leaves describes its network. */
export const topologyFile = (lab: string): string => join(folder, lab, 'topology.yaml');

/** Where a lab keeps files of one host. */
export const hostFolder = (lab: string, host: string): string => join(folder, lab, host);

/** Takes the name: of two who try, one wins. Before the first namespace, so that none is without a state. */
export function createState(state: LabState): void {
  mkdirSync(folder, { recursive: true });
  if (createWhole(pathOf(state.name), state)) return;
  throw new WeftError('BAD_USAGE', `lab ${state.name} already exists`, {
    hint: 'Remove it with `weft lab down`, or choose another `name`.',
  });
}

/** Nobody ever sees half of it: a state that cannot be read counts as nobody's. False if the path is taken. */
function createWhole(path: string, content: object): boolean {
  const next = `${path}.${process.pid}`;
  writeFileSync(next, JSON.stringify(content), { mode: 0o644 });
  try {
    linkSync(next, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(next, { force: true });
  }
}

/** Changes the state as it is now, whoever else changes or removes it: one at a time. */
export const changeState = (name: string, change: (state: LabState) => LabState): LabState =>
  locked(name, () => {
    const state = readState(name);
    if (state === undefined) throw new WeftError('BAD_USAGE', `lab ${name} is not up`);
    const next = change(state);
    replaceState(next);
    return next;
  });

function locked<Result>(name: string, work: () => Result): Result {
  mkdirSync(folder, { recursive: true });
  const lock = `${pathOf(name)}.lock`;
  for (let tries = 0; !take(lock); tries++) {
    if (tries > longestWaitMs / lookAgainMs) {
      throw new WeftError('BUSY', `process ${holderOf(lock)?.pid} is changing lab ${name}`, {
        hint: 'Try again when it has ended.',
      });
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lookAgainMs);
  }
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}

const lookAgainMs = 10;
const longestWaitMs = 20_000;

/** True if this process has the lock now. One that a dead process left is free soon after. */
function take(lock: string): boolean {
  if (createWhole(lock, thisProcess())) return true;
  const left = () => {
    const holder = holderOf(lock);
    return holder !== undefined && !isAlive(holder);
  };
  // Who sees a dead holder may be late and remove the lock of the next one, so removing takes a lock as well.
  const removing = `${lock}.left`;
  if (left() && take(removing)) {
    if (left()) rmSync(lock, { force: true });
    rmSync(removing, { force: true });
  }
  return false;
}

function holderOf(lock: string): NonNullable<LabState['owner']> | undefined {
  try {
    return JSON.parse(readFileSync(lock, 'utf8'));
  } catch {
    return undefined;
  }
}

function replaceState(state: LabState): void {
  const next = `${pathOf(state.name)}.${process.pid}`;
  writeFileSync(next, JSON.stringify(state), { mode: 0o644 });
  renameSync(next, pathOf(state.name));
}

/**
 * The state goes last: while it is there, a later command removes the rest. Under the lock: who is changing the state
 * would otherwise bring it back.
 */
export const removeState = (name: string): void =>
  locked(name, () => {
    rmSync(join(folder, name), { recursive: true, force: true });
    rmSync(pathOf(name), { force: true });
  });

/** Undefined where there is none, or none that can be read: then its pieces are nobody's. */
export function readState(name: string): LabState | undefined {
  try {
    const read = stateSchema.safeParse(JSON.parse(readFileSync(pathOf(name), 'utf8')));
    return read.success ? read.data : undefined;
  } catch {
    return undefined;
  }
}

/** Names with a state file, also those that cannot be read. */
export function stateNames(): string[] {
  try {
    return readdirSync(folder)
      .flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? [])
      .sort();
  } catch {
    return [];
  }
}

/** This process, so that it can be told from a later one with the same number. */
export const thisProcess = (): NonNullable<LabState['owner']> => ({
  pid: process.pid,
  started: startTime(process.pid) ?? '',
});

export const isAlive = ({ pid, started }: NonNullable<LabState['owner']>): boolean =>
  startTime(pid) === started;
