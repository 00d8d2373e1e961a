import { WeftError } from '../errors.js';
import type { Fabric } from '../fabric/fabric.js';
import { onOneHost } from '../world/same-host.js';
import type { World } from '../world/world.js';
import type { GapPolicy } from './fabric-wish.js';
import { findGaps, type Gap } from './probe.js';
import { refuseTogether } from './refuse-together.js';
import type { UnusedNic } from './unused-nic.js';

export interface ReachOptions {
  readonly timeoutMs: number;
  readonly gaps: GapPolicy;
}

interface Reach {
  /** This rank's NICs of the rails that reach every rank. */
  readonly reaching: readonly string[];
  /** Of the other rails: one for each pair of hosts, and perhaps several times. */
  readonly unused: readonly UnusedNic[];
}

/** How long probes may take. Rails that may be left out must not make everyone wait as long as those that must work. */
const longestMs = { refuse: 10_000, report: 4000 };
/** In a large world the set-up of so many connections takes its time. */
const longerByRankMs = 20;

/**
 * Which rails of a connected fabric reach every rank; the same on every rank. Throws where some do not and gaps are
 * refused, or where none does. After a gap the fabric is only good for closing.
 */
export async function checkReach(
  world: World,
  fabric: Fabric,
  { timeoutMs, gaps: policy }: ReachOptions,
): Promise<Reach> {
  const nics = fabric.channels.map(({ nic }) => nic);
  if (onOneHost(world)) return { reaching: nics, unused: [] };
  const longest = longestMs[policy] + longerByRankMs * world.size;
  const gaps = await findGaps(world, fabric, Math.min(timeoutMs / 2, longest));
  const reaching = nics.filter((_, rail) => !gaps.some((gap) => gap.rail === rail));
  if (gaps.length > 0 && (policy === 'refuse' || reaching.length === 0)) {
    await refuseTogether(world, unreachable(world, nics, gaps));
  }
  const unused = gaps.map(({ rail, from, to }): UnusedNic => {
    const [host, peer] = [world.hosts[from]!, world.hosts[to]!];
    const text = `does not reach ${peer}`;
    return { nic: nics[rail]!, host, reason: 'does-not-reach', text, peer };
  });
  return { reaching, unused };
}

function unreachable({ hosts }: World, nics: readonly string[], gaps: readonly Gap[]): WeftError {
  const rails = [...new Set(gaps.map((gap) => gap.rail))].sort((a, b) => a - b);
  const sentences = rails.map((rail) => {
    const pairs = gaps.filter((gap) => gap.rail === rail);
    return `rail ${rail} (${nics[rail]}): ${describeGaps(pairs, hosts)}`;
  });
  return new WeftError('UNREACHABLE', sentences.join('; '), {
    hint: 'Check the link, the switch and the firewall between them, or leave that rail out with `nics`.',
  });
}

const mostPairs = 4;

/** One host that is in every gap is the one to look at; else some of the pairs. */
export function describeGaps(gaps: readonly Omit<Gap, 'rail'>[], hosts: readonly string[]): string {
  const pairs = gaps.map(({ from, to }) => [hosts[from]!, hosts[to]!] as const);
  const culprit = [...new Set(pairs.flat())].find(
    (host) => pairs.length > 2 && pairs.every((pair) => pair.includes(host)),
  );
  if (culprit !== undefined) {
    const others = new Set(pairs.flat().filter((host) => host !== culprit));
    return `${culprit} and ${[...others].sort().join(', ')} do not reach each other`;
  }
  const words = [...new Set(pairs.map(([from, to]) => `${from} does not reach ${to}`))];
  const more = words.length > mostPairs ? ` and ${words.length - mostPairs} more` : '';
  return `${words.slice(0, mostPairs).join(', ')}${more}`;
}
