import { WeftError } from '../errors.js';
import type { Fabric } from '../fabric/fabric.js';
import { isRdma, isSockets } from '../fabric/providers.js';
import { groupBy } from '../measure/group.js';
import { onOneHost } from '../world/same-host.js';
import type { World } from '../world/world.js';
import type { GapPolicy } from './fabric-wish.js';
import { findGaps, type Gap, type GapCause } from './probe.js';
import { refuseTogether } from './refuse-together.js';
import { probeSockets } from './socket-probe.js';
import { NoRail, type UnusedNic } from './unused-nic.js';

export interface ReachOptions {
  readonly timeoutMs: number;
  readonly gaps: GapPolicy;
}

export interface Reach {
  /** This rank's NICs of the rails that reach every rank. */
  readonly reaching: readonly string[];
  /** Of the other rails: one for each pair of hosts, and perhaps several times. */
  readonly unused: readonly UnusedNic[];
  /** Why they do not reach, where that is known, and what to do. */
  readonly warnings: readonly string[];
}

/** How long probes may take. Rails that may be left out must not make everyone wait as long as those that must work. */
const longestMs = { refuse: 10_000, report: 4000, everyone: 4000 };
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
  if (onOneHost(world)) return { reaching: nics, unused: [], warnings: [] };
  const longest = longestMs[policy] + longerByRankMs * world.size;
  const plain = isSockets(fabric.provider) ? await probeSockets(world, fabric) : [];
  const gaps =
    plain.length > 0 ? plain : await findGaps(world, fabric, Math.min(timeoutMs / 2, longest));
  const reaching = nics.filter((_, rail) => !gaps.some((gap) => gap.rail === rail));
  const unused = gaps.map(({ rail, from, to, cause }): UnusedNic => {
    const [host, peer] = [world.hosts[from]!, world.hosts[to]!];
    const text = `does not reach ${peer}${cause ? ` (${causes[cause].short})` : ''}`;
    return { nic: nics[rail]!, host, reason: 'does-not-reach', text, peer };
  });
  const error = unreachable(world, fabric, gaps, unused);
  if (gaps.length > 0 && (policy === 'refuse' || reaching.length === 0)) {
    await refuseTogether(world, error, policy);
  }
  const explained = gaps.some(({ cause }) => cause !== undefined);
  return { reaching, unused, warnings: explained ? [`${error.message}. ${error.hint}`] : [] };
}

const openTcp =
  'Open TCP between the hosts on these networks: libfabric chooses the ports, or set FI_TCP_PORT_LOW_RANGE and FI_TCP_PORT_HIGH_RANGE.';

/** What is behind a gap, in a few words, and what to do. */
const causes: Record<GapCause, { readonly short: string; readonly cure: string }> = {
  'no-neighbour': {
    short: 'no answer to ARP',
    cure: 'Check the cable, the VLAN and the switch port.',
  },
  filtered: {
    short: 'the host answers ARP but not TCP: a firewall drops the packets',
    cure: openTcp,
  },
  rejected: { short: 'a firewall rejects TCP connections', cure: openTcp },
  'frame-size': {
    short: 'small messages pass, full frames do not: the network has a smaller MTU than the NIC',
    cure: 'Set the same MTU on all NICs and switch ports of the rail: ip link set dev NIC mtu 1500 on the hosts, or jumbo frames on the switch.',
  },
};

function unreachable(
  { hosts }: World,
  fabric: Fabric,
  gaps: readonly Gap[],
  unused: readonly UnusedNic[],
): WeftError {
  const groups = groupBy(gaps, ({ rail, cause }) => `${rail} ${cause ?? ''}`);
  const sentences = [...groups.values()]
    .sort(([a], [b]) => a!.rail - b!.rail)
    .map((pairs) => {
      const { rail, cause } = pairs[0]!;
      const why = cause ? ` (${causes[cause].short})` : '';
      return `rail ${rail} (${fabric.channels[rail]!.nic}): ${describeGaps(pairs, hosts)}${why}`;
    });
  const cures = gaps.flatMap(({ cause }) => (cause ? [causes[cause].cure] : []));
  const hint = cures.length > 0 ? [...new Set(cures)].join(' ') : cureOf(fabric.provider);
  return new WeftError('UNREACHABLE', sentences.join('; '), {
    hint: `${hint} To leave a rail out, use \`nics\`.`,
    cause: new NoRail(unused),
  });
}

const cureOf = (provider: string): string =>
  isRdma(provider)
    ? 'Check the link, the switch and the MTU between them. On EC2, the security group must allow all traffic from itself and to itself.'
    : 'Check the link, the VLAN, the switch and the firewall between them.';

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
