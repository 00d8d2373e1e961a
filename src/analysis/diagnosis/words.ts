import type { Finding } from '../../results/finding.js';
import { nameOf } from './finding-name.js';

export interface Figures {
  readonly effect?: number;
  readonly resent?: number;
  readonly share?: number;
  readonly usual?: number;
  readonly longestMs?: number;
}

type Subject = Pick<Finding, 'cause' | 'who' | 'symptom'>;

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const times = (factor: number): string => `${factor.toFixed(factor < 10 ? 1 : 0)} times`;

/** Why we say so. */
export function evidenceOf(subject: Subject, figures: Figures): string {
  const { effect = 0, resent = 0, share = 0, usual = 0, longestMs = 0 } = figures;
  switch (subject.symptom) {
    case 'slow':
      return `Measured alone, ${nameOf(subject)} carries ${percent(effect)} of what a healthy pair does.`;
    case 'late':
      return `Measured alone, a message takes ${times(effect)} as long as between healthy ranks.`;
    case 'loss':
      return `Measured alone, ${resent} TCP segments had to be sent again on one rail, and bandwidth was ${percent(effect)} of a healthy pair’s.`;
    case 'stalls':
      return `Its process did not run ${percent(share)} of the time (the others ${percent(usual)}), at most ${longestMs.toFixed(0)} ms at a stretch.`;
    case 'down':
      return 'Nothing came through before the deadline, or the interface has no carrier.';
  }
}

const look: Record<Finding['cause'], string> = {
  nic: 'Look at that NIC: its negotiated speed (ethtool, ibstat), PCIe width and errors, its cable and its port on the switch.',
  host: 'Look at what all its NICs share: PCIe, memory, CPU frequency and power, other jobs on it, its switch.',
  rail: 'Look at the switch of that rail and its uplinks: every host is slow there.',
  pair: 'Look at the way between the two: routes, uplinks, ECMP, firewalls. Each of them is well with others.',
  rank: 'Look at that process and its core: who stops it, what shares the core, cgroup limits.',
};

/** What to look at. */
export function nextStep({ cause, symptom, who }: Subject): string {
  if (symptom === 'stalls') {
    return 'Look at who stops that process: a debugger, a cgroup’s CPU limit or freezer, a batch system, memory that is swapped.';
  }
  if (symptom === 'loss') {
    return cause === 'pair'
      ? 'Look at error and drop counters along the way between the two.'
      : `Look at error and drop counters (ethtool -S, the switch port) of ${who.nic ?? 'its NICs'}; then cables and transceivers.`;
  }
  if (symptom === 'down') {
    return 'Look at the link, the switch port and the firewall; the rail was left out of the measurement.';
  }
  return look[cause];
}
