import { namesOf } from '../../analysis/hosts/differences.js';
import { openFilesHint } from '../../errors.js';
import { nodesHint } from '../../fabric/hidden-devices.js';
import { ownFiles, sharedMemoryHint, shmBytes } from '../../fabric/limits.js';
import { isRdma, isSockets } from '../../fabric/providers.js';
import { groupBy } from '../../measure/group.js';
import { formatBytesRounded, plural } from '../../measure/units.js';
import type { HostState } from './host-state.js';

/** A host of a job, and what it says of itself. The first one is rank 0's. */
export interface HostInJob {
  readonly host: string;
  /** How many ranks run on it. */
  readonly ranks: number;
  /** To ranks other than rank 0, of the rank with the most: a relay has many. */
  readonly links: number;
  readonly state: HostState;
}

export interface JobShape {
  readonly provider: string;
  readonly ranks: number;
  readonly channels: number;
}

/** Something that keeps a job from running, or from being understood: what it is, and what to do. */
export interface Problem {
  readonly level: 'error' | 'warning';
  readonly what: string;
  readonly cure: string;
  /** Who has it, where it is not a difference between hosts. */
  readonly hosts?: readonly string[];
}

/** Errors first. */
export function judge(hosts: readonly HostInJob[], job: JobShape): Problem[] {
  const found = [
    ...versions(hosts),
    ...clocks(hosts),
    ...byHost(hosts, (host, first) => [
      ...openFiles(host, job, first),
      ...lockedMemory(host, job),
      ...sharedMemory(host, job),
      ...devices(host, job),
    ]),
  ];
  const rank = ({ level }: Problem) => (level === 'error' ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b));
}

/** The same problem of several hosts is one: `h1, h2: …`. */
function byHost(
  hosts: readonly HostInJob[],
  check: (host: HostInJob, first: boolean) => Problem[],
): Problem[] {
  const all = hosts.flatMap((one, index) =>
    check(one, index === 0).map((problem) => ({ ...problem, host: one.host })),
  );
  const alike = groupBy(all, ({ host: _, ...problem }) => JSON.stringify(problem));
  return [...alike.values()].map((some) => {
    const { host: _, ...problem } = some[0]!;
    const names = some.map(({ host }) => host);
    return { ...problem, what: `${namesOf(names)}: ${problem.what}`, hosts: names };
  });
}

function versions(hosts: readonly HostInJob[]): Problem[] {
  const differing = (of: (state: HostState) => string) => {
    const groups = groupBy(hosts, ({ state }) => of(state));
    const texts = [...groups].map(
      ([value, some]) => `${value} on ${namesOf(some.map(({ host }) => host))}`,
    );
    return groups.size > 1 ? texts.join(', ') : undefined;
  };
  const providers = differing(({ provider }) => provider);
  const libraries = differing(({ libfabric }) => libfabric);
  const nodes = differing(({ node }) => node);
  const sameLibrary = 'Install the same libfabric on every host, or point WEFT_LIBFABRIC to it.';
  const apart = `the hosts would use different protocols: ${providers} (libfabric ${libraries})`;
  const problem = (level: Problem['level'], what: string, cure: string) => [{ level, what, cure }];
  return [
    ...(providers ? problem('error', apart, sameLibrary) : []),
    ...(libraries && !providers
      ? problem('warning', `the versions of libfabric differ: ${libraries}`, sameLibrary)
      : []),
    ...(nodes
      ? problem(
          'warning',
          `the versions of Node.js differ: ${nodes}`,
          'Install the same version of Node.js on every host.',
        )
      : []),
  ];
}

const mostSkewMs = 1000;

/** The odd clock is named, be it rank 0's; an offset is known to half a round trip. */
function clocks(hosts: readonly HostInJob[]): Problem[] {
  const sorted = hosts.map(({ state }) => state.clock.offsetMs).sort((a, b) => a - b);
  const usual = sorted[Math.floor((sorted.length - 1) / 2)]!;
  const odd = hosts.filter(
    ({ state: { clock } }) => Math.abs(clock.offsetMs - usual) - clock.roundTripMs / 2 > mostSkewMs,
  );
  return odd.map(({ host, state }) => {
    const byMs = state.clock.offsetMs - usual;
    const way = byMs > 0 ? 'ahead of' : 'behind';
    const others = hosts.length > 2 ? 'most hosts' : hosts.find((one) => one.host !== host)?.host;
    const what = `${host}: its clock is ${(Math.abs(byMs) / 1000).toFixed(1)} s ${way} that of ${others}`;
    const cure =
      'Start an NTP service such as chrony on every host, so that the times in run files and logs agree.';
    return { level: 'warning', what, cure };
  });
}

/** The fewest files a rank opens: providers over sockets hold a connection to each peer on each channel. */
export function filesNeeded(
  { provider, ranks, channels }: JobShape,
  { rendezvous = false, links = 0 } = {},
): number {
  const connections = isSockets(provider) ? ranks - 1 : 0;
  return ownFiles + channels * (connections + 4) + (rendezvous ? ranks : links);
}

function openFiles({ state, links }: HostInJob, job: JobShape, first: boolean): Problem[] {
  const needed = filesNeeded(job, { rendezvous: first, links });
  if (state.openFiles === undefined || state.openFiles >= needed) return [];
  const size = `${plural(job.ranks, 'rank')} × ${plural(job.channels, 'channel')}`;
  const what = `a process may open ${state.openFiles} files, but needs ${needed} for ${size}`;
  return [{ level: 'error', what, cure: openFilesHint }];
}

/** Below the first an RDMA endpoint hardly opens; below the second buffers of usual sizes cannot be registered. */
const lockedBytes = { least: 64 * 2 ** 20, enough: 2 ** 30 };

function lockedMemory({ state }: HostInJob, { provider }: JobShape): Problem[] {
  const { lockedBytes: limit } = state;
  if (!isRdma(provider) || limit === undefined || limit >= lockedBytes.enough) return [];
  const level = limit < lockedBytes.least ? 'error' : 'warning';
  const what = `only ${formatBytesRounded(limit)} of memory can be locked, and ${provider} locks all buffers`;
  const cure =
    'Raise the limit: `ulimit -l unlimited`, memlock in /etc/security/limits.conf, LimitMEMLOCK=infinity for slurmd, or --ulimit memlock=-1 for Docker.';
  return [{ level, what, cure }];
}

function sharedMemory({ ranks, state }: HostInJob, { provider, channels }: JobShape): Problem[] {
  const { sharedFreeBytes = 0, lacksShm, localShm } = state;
  const needed = ranks * channels * shmBytes.perEndpoint;
  const free = `/dev/shm has only ${formatBytesRounded(sharedFreeBytes)} free`;
  const overShm = provider === 'shm' || (localShm && ranks > 1);
  if (overShm && sharedFreeBytes < needed) {
    const endpoints = `${plural(ranks, 'rank')} × ${plural(channels, 'channel')}`;
    const over = provider === 'shm' ? 'shm' : `${provider} with shm between the ranks of a host`;
    const what = `${free}, but ${endpoints} over ${over} need ${formatBytesRounded(needed)}`;
    return [{ level: 'error', what, cure: sharedMemoryHint }];
  }
  if (!lacksShm || provider === 'shm') return [];
  const what = `${free}, so libfabric does not offer shm and the ranks use ${provider}`;
  return [{ level: 'warning', what, cure: sharedMemoryHint }];
}

function devices({ state: { closedDevices } }: HostInJob, { provider }: JobShape): Problem[] {
  if (closedDevices.length === 0 || isRdma(provider)) return [];
  const what = `there are RDMA devices (${namesOf(closedDevices)}) but no /dev/infiniband/uverbs*, so the ranks use ${provider}`;
  return [{ level: 'warning', what, cure: nodesHint }];
}
