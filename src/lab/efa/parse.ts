import { WeftError } from '../../errors.js';
import { type Capability, capabilities, type Machine, machines } from './machines.js';
import type { Faults } from './tree.js';

const bad = (message: string, hint: string) => new WeftError('BAD_USAGE', message, { hint });

/** `p5` or `p5.48xlarge`. */
export function parseMachine(text: string): Machine {
  const found = machines.find(({ id, instance }) => text === id || text === instance);
  if (found) return found;
  throw bad(`"${text}" is not a known machine`, `Use ${machines.map(({ id }) => id).join(', ')}.`);
}

/** `read,write`; `none` for a device that can only send. */
export function parseCapabilities(text: string): Capability[] {
  if (text === 'none') return [];
  return text.split(',').map((name) => {
    const found = capabilities.find((one) => one === name);
    if (found) return found;
    throw bad(`"${name}" is not a capability`, `Use ${capabilities.join(', ')}, or none.`);
  });
}

const wholePercent = /^(?:100|\d{1,2})%?$/;

/** What each fault's value is. */
const faultValues = {
  open: /^1$/,
  queues: /^1$/,
  silent: /^1$/,
  error: /^\d{1,2}$/,
  rnr: wholePercent,
  delay_us: /^\d{1,9}$/,
  corrupt: /^[1-9]\d{0,8}$/,
  early_immediate: /^1$/,
  overrun: /^1$/,
  drop: wholePercent,
} satisfies Record<string, RegExp>;

/** What `devices/efa` can be made to do. */
export const faultNames = Object.keys(faultValues);

/** `rnr=10,delay_us=200` */
export function parseFaults(text: string): Faults {
  const known = Object.entries(faultValues);
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [key = '', value = ''] = part.split('=');
      const fits = known.find(([name]) => name === key)?.[1];
      if (fits === undefined) {
        throw bad(`"${key}" is not a fault`, `Use ${faultNames.join(', ')}.`);
      }
      if (!fits.test(value))
        throw bad(`"${part}" is not a valid fault`, `Write ${key}=${meaning(key)}.`);
      return [key, value.replace('%', '')];
    }),
  );
}

export interface NicFaults {
  /** Its number; absent: every NIC. */
  readonly nic?: number;
  readonly faults: Faults;
}

/** `rnr=10,1:silent=1`: what a number stands before is for that NIC only. */
export const parseNicFaults = (text: string): NicFaults[] =>
  text.split(',').map((part) => {
    const [, nic, fault = ''] = /^(?:(\d+):)?(.*)$/.exec(part)!;
    return { ...(nic !== undefined && { nic: Number(nic) }), faults: parseFaults(fault) };
  });

function meaning(key: string): string {
  if (key === 'rnr' || key === 'drop') return 'PERCENT, a whole number from 0 to 100';
  if (key === 'error') return 'STATUS, an EFA status such as 9';
  if (key === 'delay_us') return 'MICROSECONDS';
  return key === 'corrupt' ? 'N, to corrupt every Nth segment' : '1';
}
