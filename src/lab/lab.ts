import { WeftError } from '../errors.js';
import { build } from './build.js';
import { requireRoot } from './commands.js';
import { removeLab, sweep } from './remove.js';
import { checkName, checkSpec } from './spec.js';
import {
  changeState,
  createState,
  type LabSpec,
  type LabState,
  readState,
  stateNames,
  thisProcess,
} from './state.js';

export const defaultName = 'lab';

/** Builds a lab. An owned one ends with this process, if need be at the next command of any lab. */
export async function raiseLab(
  name: string,
  spec: LabSpec,
  { owned = false } = {},
): Promise<LabState> {
  await clearStale();
  const state: LabState = {
    schema: 'weft.lab/1',
    name: checkName(name),
    spec: checkSpec(spec),
    owner: thisProcess(),
    faults: [],
  };
  createState(state);
  try {
    build(state);
    if (owned) return state;
    return changeState(name, ({ owner: _, ...kept }) => kept);
  } catch (error) {
    await removeLab(name);
    throw error;
  }
}

/** Removes a lab, and says whether there was one. */
export async function lowerLab(name: string): Promise<boolean> {
  await clearStale();
  const found = stateNames().includes(checkName(name));
  await removeLab(name);
  return found;
}

/** Every command of a lab begins with this: needs root, and what crashed before is removed. */
async function clearStale(): Promise<string[]> {
  requireRoot();
  return sweep();
}

/** The labs there are. */
export async function listLabs(): Promise<LabState[]> {
  await clearStale();
  return stateNames().flatMap((name) => readState(name) ?? []);
}

/** The lab of that name; without one, the only lab there is. */
export async function findLab(name: string | undefined): Promise<LabState> {
  const labs = await listLabs();
  const found = labs.filter((lab) => name === undefined || lab.name === name);
  if (found.length === 1) return found[0]!;
  if (found.length > 1) {
    throw new WeftError('BAD_USAGE', `${found.length} labs are up`, {
      hint: `Choose one with \`name\`: ${found.map((lab) => lab.name).join(', ')}.`,
    });
  }
  throw new WeftError('BAD_USAGE', name === undefined ? 'no lab is up' : `lab ${name} is not up`, {
    hint: 'Build one with `weft lab up`.',
  });
}
