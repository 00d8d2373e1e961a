import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { WeftError } from '../errors.js';
import { tool } from './commands.js';
import { labOfSpace, switchSpace } from './names.js';
import { isAlive, readState, removeState, stateNames } from './state.js';

const spacesFolder = '/run/netns';

function spaces(): string[] {
  try {
    return readdirSync(spacesFolder);
  } catch {
    return []; // nobody has made one since the machine started
  }
}

/** Processes that run inside a lab's namespaces. */
export function processesIn(lab: string): number[] {
  return spaces()
    .filter((space) => labOfSpace(space) === lab)
    .flatMap((space) => tool('ip', ['netns', 'pids', space]).split('\n'))
    .flatMap((line) => (line === '' ? [] : Number(line)));
}

const graceMs = 2000;

/** Removes a lab and what runs in it. What is gone already is no error. */
export async function removeLab(lab: string): Promise<void> {
  await endProcesses(lab);
  for (const space of spaces().filter((one) => labOfSpace(one) === lab)) {
    try {
      tool('ip', ['netns', 'delete', space]);
    } catch (error) {
      if (spaces().includes(space)) throw error; // another command may have been faster
    }
  }
  removeState(lab);
}

async function endProcesses(lab: string): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const pid of processesIn(lab)) end(pid, signal);
    const until = performance.now() + graceMs;
    while (processesIn(lab).length > 0 && performance.now() < until) await sleep(20);
    if (processesIn(lab).length === 0) return;
  }
  throw new WeftError(
    'BUSY',
    `processes in lab ${lab} do not exit: ${processesIn(lab).join(', ')}`,
  );
}

function end(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone meanwhile
  }
}

/**
 * Removes what crashed commands left behind: labs whose owner is dead, namespaces without a state, states without
 * namespaces. Returns the names.
 */
export async function sweep(): Promise<string[]> {
  const present = spaces();
  const owned = present.flatMap((space) => labOfSpace(space) ?? []);
  const stale = [...new Set([...stateNames(), ...owned])].filter((lab) => {
    const state = readState(lab);
    if (state === undefined) return true;
    return state.owner ? !isAlive(state.owner) : !present.includes(switchSpace(lab));
  });
  for (const lab of stale) await removeLab(lab);
  return stale;
}
