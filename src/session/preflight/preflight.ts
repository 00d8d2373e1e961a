import { WeftError } from '../../errors.js';
import type { FabricOptions } from '../../fabric/fabric.js';
import { Tree } from '../../world/rendezvous/tree.js';
import { firstRanks, sameHost } from '../../world/same-host.js';
import type { World } from '../../world/world.js';
import type { GapPolicy } from '../fabric-wish.js';
import { refuseTogether } from '../refuse-together.js';
import { UnfitRanks } from '../unfit-ranks.js';
import { type HostState, readHostState } from './host-state.js';
import { type HostInJob, judge, type Problem } from './judge.js';

/** Which fabrics of a world were looked at: a job that opens many sessions is checked once. */
const seen = new WeakMap<World, Set<string>>();

/**
 * Looks at versions, limits, devices and clocks of all hosts before anything is opened. Every rank calls it; rank 0
 * throws if something would keep the job from running, which ends all, and gets the warnings. With `everyone`, each
 * rank throws.
 */
export async function preflight(
  world: World,
  options: FabricOptions,
  gaps: GapPolicy,
): Promise<string[]> {
  const { provider, nics = [] } = options;
  const channels = options.channels ?? Math.max(1, nics.length);
  const known = seen.get(world) ?? new Set();
  const fabric = `${provider} ${channels}`;
  if (known.has(fabric)) return [];
  seen.set(world, known.add(fabric));
  world.note('comparing the hosts');
  const mine = firstRanks(world).includes(world.rank) ? await readHostState(world, options) : null;
  const states = await world.gather<HostState | null>('preflight', mine);
  const job = { provider, ranks: world.size, channels };
  const problems = await world.broadcast(
    'problems',
    states ? judge(inJob(world, states), job) : [],
  );
  const error = errorOf(problems, world.hosts);
  if (error) await refuseTogether(world, error, gaps);
  const once = known.size === 1 ? world.warnings : [];
  return world.rank === 0 ? [...once, ...problems.map(inWords)] : [];
}

function inJob({ members }: World, states: readonly (HostState | null)[]): HostInJob[] {
  // Few use another tree, and only on purpose.
  const tree = new Tree(members.length);
  return states.flatMap((state, rank) => {
    const { host } = members[rank]!;
    const ranks = members.filter((member) => sameHost(member, members[rank]!));
    const links = Math.max(...ranks.map((member) => tree.linksOf(member.rank)));
    return state ? [{ host, ranks: ranks.length, links, state }] : [];
  });
}

function errorOf(problems: readonly Problem[], hosts: readonly string[]): WeftError | undefined {
  const [first, ...more] = problems.filter(({ level }) => level === 'error');
  if (first === undefined) return undefined;
  const all = [first, ...more];
  const unfit = new Set(all.flatMap((problem) => problem.hosts ?? []));
  const ranks = [...hosts.keys()].filter((rank) => unfit.has(hosts[rank]!));
  const cause = ranks.length > 0 ? new UnfitRanks(ranks) : undefined;
  if (more.length === 0) return new WeftError('PREFLIGHT', first.what, { hint: first.cure, cause });
  const list = all.map((problem) => `- ${inWords(problem)}`);
  const message = `${list.length} problems keep this job from running:\n${list.join('\n')}`;
  return new WeftError('PREFLIGHT', message, { cause });
}

const inWords = ({ what, cure }: Problem): string => `${what}. ${cure}`;
