import { plural } from '../../measure/units.js';
import type { Finding } from '../../results/finding.js';
import { type FactKey, factKeys, factTitles, valuesOf } from '../../results/host-facts.js';
import type { RunHeader } from '../../results/schema.js';

/** Something that should be equal on all hosts and is not. */
export interface Difference {
  readonly fact: FactKey;
  readonly title: string;
  /** The most frequent first. */
  readonly values: readonly HostsOfValue[];
  /** More than half of the hosts have the first value: the others are the odd ones. */
  readonly majority: boolean;
}

interface HostsOfValue {
  readonly value: string;
  readonly hosts: readonly string[];
}

/** In the order of `factTitles`. A run of an older version has no facts, and no differences. */
export function differencesOf({
  hosts,
  facts = {},
}: Pick<RunHeader['world'], 'hosts' | 'facts'>): Difference[] {
  return factKeys.flatMap((fact) => {
    if (facts[fact] === undefined) return [];
    const values = valuesOf(facts[fact], hosts);
    const majority = 2 * values[0]!.hosts.length > hosts.length;
    return values.length < 2 ? [] : [{ fact, title: factTitles[fact], values, majority }];
  });
}

const oddOf = ({ values, majority }: Difference): readonly HostsOfValue[] =>
  majority ? values.slice(1) : values;

/** How many hosts are named; the rest is counted. */
const mostNamed = 4;

/** `h1, h2`; `h1, h2, h3, h4 and 20 more` */
export function namesOf(hosts: readonly string[]): string {
  const more = hosts.length - mostNamed;
  if (more <= 0) return hosts.join(', ');
  return `${hosts.slice(0, mostNamed).join(', ')} and ${more} more`;
}

/** `9000 on 3 hosts`; undefined where no value has more than half of the hosts. */
export const usualText = ({ values: [first], majority }: Difference): string | undefined =>
  majority ? `${first!.value} on ${plural(first!.hosts.length, 'host')}` : undefined;

/** `1500 on h2` */
export const oddText = (difference: Difference): string =>
  oddOf(difference)
    .map(({ value, hosts }) => `${value} on ${namesOf(hosts)}`)
    .join('; ');

const has = ({ value, hosts }: HostsOfValue): string =>
  `${namesOf(hosts)} ${hosts.length === 1 ? 'has' : 'have'} ${value}`;

/** `MTU: h2 has 1500; the other 3 hosts have 9000.`, `MTU: a has 9000, b has 1500.` */
export function describeDifference(difference: Difference): string {
  const { title, values, majority } = difference;
  const odd = oddOf(difference).map(has).join(', ');
  if (!majority) return `${title}: ${odd}.`;
  const { value, hosts } = values[0]!;
  return `${title}: ${odd}; the other ${hosts.length} hosts have ${value}.`;
}

const advice: Partial<Record<FactKey, string>> = {
  nics: 'Find out why NICs are missing or down: dmesg, lspci, ip link.',
  mtu: 'Set the same MTU on every host and switch port; ports with a smaller MTU drop larger frames.',
  link: 'Check the cable, the transceiver and the switch port of the slower link.',
  pcie: 'Check the slot and the PCIe errors of that NIC (lspci -vv, dmesg).',
  gpus: 'Find out why GPUs are missing: dmesg, lspci, nvidia-smi.',
  gpuPcie: 'Check the slot and the PCIe errors of that GPU (lspci -vv, dmesg).',
  governor: 'Set the same governor on every host (cpupower frequency-set -g performance).',
  memlock: 'Set the same limit on every host: memlock in /etc/security/limits.conf.',
};

/** What a difference is about, as people call it. */
export const titleOf = ({ fact = '' }: Pick<Finding, 'fact'>): string =>
  new Map<string, string>(Object.entries(factTitles)).get(fact) ?? fact;

/** Each difference as a finding about the odd hosts, or about all where there is no majority. */
export function differenceFindings(world: Pick<RunHeader['world'], 'hosts' | 'facts'>): Finding[] {
  return differencesOf(world).map((difference) => {
    const { fact } = difference;
    const hosts = oddOf(difference).flatMap((one) => one.hosts);
    return {
      cause: 'host',
      who: { host: hosts[0]!, hosts, direction: 'both' },
      symptom: 'differs',
      fact,
      effect: 1,
      confidence: 1,
      evidence: describeDifference(difference),
      next: advice[fact] ?? 'Make it the same on every host, or leave the odd hosts out.',
    };
  });
}
