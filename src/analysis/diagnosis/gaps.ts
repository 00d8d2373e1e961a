import type { Direction, Finding, Who } from '../../results/finding.js';
import { evidenceOf, nextStep } from './words.js';

/** A rail on which one host's bytes did not come to another; without `to`, its interface has no carrier. */
export interface Gap {
  readonly nic: string;
  readonly from: string;
  readonly to?: string;
}

/** Findings about rails that do not carry: a NIC where one host is in every gap, else pairs. */
export function gapFindings(gaps: readonly Gap[]): Finding[] {
  const nics = [...new Set(gaps.map((gap) => gap.nic))];
  return nics.flatMap((nic) =>
    ofRail(
      gaps.filter((gap) => gap.nic === nic),
      nic,
    ),
  );
}

function down(cause: Finding['cause'], who: Who): Finding {
  const subject = { cause, who, symptom: 'down' } as const;
  const texts = { evidence: evidenceOf(subject, {}), next: nextStep(subject) };
  return { ...subject, effect: 0, confidence: 0.99, ...texts };
}

function ofRail(gaps: readonly Gap[], nic: string): Finding[] {
  const unplugged = [...new Set(gaps.filter((gap) => gap.to === undefined).map((gap) => gap.from))];
  const pulled = unplugged.map((host) => down('nic', { host, nic, direction: 'both' }));
  const open = gaps.filter(
    ({ from, to }) => to !== undefined && !unplugged.includes(from) && !unplugged.includes(to),
  );
  // Both ends tell of a gap.
  const seen = new Map(open.map(({ from, to }) => [`${from} ${to}`, [from, to!] as const]));
  const ways = [...seen.values()];
  const peersOf = (host: string) => new Set(ways.flat().filter((other) => other !== host)).size;
  const culprit = [...new Set(ways.flat())].find(
    (host) => peersOf(host) > 1 && ways.every((way) => way.includes(host)),
  );
  if (culprit === undefined) return [...pulled, ...pairs(ways, nic)];
  const out = ways.some(([from]) => from === culprit);
  const into = ways.some(([, to]) => to === culprit);
  const direction: Direction = out && into ? 'both' : out ? 'out' : 'in';
  return [...pulled, down('nic', { host: culprit, nic, direction })];
}

function pairs(ways: readonly (readonly [string, string])[], nic: string): Finding[] {
  const seen = new Map<string, Who>();
  for (const [from, to] of ways) {
    const back = seen.get(`${to} ${from}`);
    if (back) seen.set(`${to} ${from}`, { ...back, direction: 'both' });
    else seen.set(`${from} ${to}`, { from, to, nic, direction: 'out' });
  }
  return [...seen.values()].map((who) => down('pair', who));
}
