import type { Finding } from '../../results/finding.js';
import { nameOf } from './finding-name.js';
import { isNetworkKind, type NetworkKind } from './network.js';

export interface Figures {
  readonly effect?: number;
  readonly resent?: number;
  readonly share?: number;
  readonly usual?: number;
  readonly longestMs?: number;
  /** What one pair carries by itself, where many were measured at once. */
  readonly alone?: number;
}

/** A difference between hosts has words of its own. */
export type Measured = Exclude<Finding['symptom'], 'differs'>;

type Subject = Pick<Finding, 'cause' | 'who'> & { readonly symptom: Measured };

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const times = (factor: number): string => `${factor.toFixed(factor < 10 ? 1 : 0)} times`;

export function evidenceOf(subject: Subject, figures: Figures): string {
  const { effect = 0, resent = 0, share = 0, usual = 0, longestMs = 0, alone = 0 } = figures;
  switch (subject.symptom) {
    case 'slow':
      if (isNetworkKind(subject.cause)) {
        return `With all its pairs busy at once, each pair over ${nameOf(subject)} carries ${percent(effect)} of what ${comparedWith[subject.cause]} carries; one pair alone carries ${percent(alone)}.`;
      }
      return `Measured alone, ${nameOf(subject)} carries ${percent(effect)} of what a healthy pair carries.`;
    case 'late':
      return `Measured alone, a message takes ${times(effect)} as long as between healthy ranks.`;
    case 'loss':
      return `Measured alone, one rail resent ${resent} TCP segments and reached ${percent(effect)} of a healthy pair’s bandwidth.`;
    case 'stalls':
      return `Its process did not run for ${percent(share)} of the time (other ranks: ${percent(usual)}), for up to ${longestMs.toFixed(0)} ms at once.`;
    case 'down':
      return 'No data arrived before the deadline, or the interface has no carrier.';
  }
}

const comparedWith: Record<NetworkKind, string> = {
  leaf: 'a pair inside another leaf',
  uplink: 'a pair inside a leaf',
  spine: 'a pair inside a leaf',
  core: 'a pair below one spine',
};

const linksOf = 'how many links are up, their speed and errors, how flows are spread (ECMP)';

const look: Record<Finding['cause'], string> = {
  nic: 'Check that NIC: negotiated speed (ethtool, ibstat), PCIe width and errors, cable and switch port.',
  host: 'Check what all its NICs share: PCIe, memory, CPU frequency and power, other jobs, its switch.',
  rail: 'Check the switch of that rail and its uplinks: every host is slow there.',
  pair: 'Check the path between the two: routes, uplinks, ECMP, firewalls. Each host is fine with other peers.',
  leaf: 'Check that leaf switch: port speeds and errors, buffers, firmware. Its hosts are slow among themselves.',
  uplink: `Check the uplinks of that leaf: ${linksOf}. If one pair alone is fast, the uplinks are oversubscribed.`,
  spine: `Check the links between leaves and spine: ${linksOf}. If one pair alone is fast, the spine is oversubscribed: keep jobs inside leaves.`,
  core: `Check the links between the spines: ${linksOf}. If one pair alone is fast, they are oversubscribed.`,
  rank: 'Check that process and its core: what stops it, what else runs on the core, cgroup limits.',
};

export function nextStep({ cause, symptom, who }: Subject): string {
  if (symptom === 'stalls') {
    return 'Check what stops that process: a debugger, a cgroup CPU limit or freezer, the batch system, swapping.';
  }
  if (symptom === 'loss') {
    return cause === 'pair'
      ? 'Check error and drop counters along the path between the two.'
      : `Check error and drop counters (ethtool -S, switch port) of ${who.nic ?? 'its NICs'}, then cables and transceivers.`;
  }
  if (symptom === 'down') {
    return 'Check the link, the switch port and the firewall. The measurement did not use this rail.';
  }
  return look[cause];
}
