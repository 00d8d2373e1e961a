import { hostName, nicName, railAddress } from '../names.js';
import { hostFolder, type LabState } from '../state.js';
import { efaEnvironment, efaLibraries } from './environment.js';
import { parseMachine } from './parse.js';
import { type Faults, plantTree, writeFaults } from './tree.js';

type Lab = Pick<LabState, 'name' | 'spec'>;

const treeOf = (lab: string, host: number): string => `${hostFolder(lab, hostName(host))}/sys`;

/** Gives every host of a lab one EFA device per NIC, if the lab is to have them. */
export function plantHosts({ name, spec }: Lab): void {
  if (spec.efa === undefined) return;
  const machine = parseMachine(spec.efa);
  for (let host = 0; host < spec.hosts; host++) {
    plantTree(treeOf(name, host), {
      machine,
      nics: Array.from({ length: spec.nics }, (_, nic) => ({
        address: railAddress(host, nic),
        netInterface: nicName(nic),
      })),
      bitsPerSecond: spec.bitsPerSecond,
      seed: 1 + host * spec.nics,
    });
  }
}

/** Before anything is built. */
export const requireEfa = ({ spec }: Lab): void => void (spec.efa && efaLibraries());

/** The words before a command that let it see the devices of its host. */
export function withDevices(lab: string, host: number): string[] {
  const variables = Object.entries(efaEnvironment(treeOf(lab, host)));
  return ['env', ...variables.map(([key, value]) => `${key}=${value}`)];
}

export function setDeviceFaults(
  { name, spec }: Lab,
  { host, nic }: { readonly host: number; readonly nic: number },
  faults: Faults,
): void {
  writeFaults(treeOf(name, host), parseMachine(spec.efa!), nic, faults);
}
