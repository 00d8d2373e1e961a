import { networkInterfaces } from 'node:os';
import { isWeftError, messageOf, openFilesHint, WeftError } from '../errors.js';
import { ownFiles, readLimits } from '../fabric/limits.js';
import {
  type Environment,
  type IdentifyOptions,
  type Identity,
  identify,
  type Launcher,
} from './identity.js';
import { enterRank, reportFailure } from './launch/rank-process.js';
import { ancestors, describeSelf } from './process-facts.js';
import { RendezvousClient } from './rendezvous/client.js';
import type { ClockOffset } from './rendezvous/clock-offset.js';
import { planMeeting } from './rendezvous/meeting.js';
import type { Member } from './rendezvous/messages.js';
import { announce, learnJob, leavingBoard } from './rendezvous/notice.js';
import { RendezvousServer } from './rendezvous/server.js';
import { chooseToken } from './rendezvous/token.js';

export interface WorldOptions {
  /** Deadline of this operation; the world's own when absent. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** Who this process is, where the ranks meet, and for how long to wait for them. */
export interface OpenWorldOptions extends Pick<IdentifyOptions, 'ranks' | 'launcher'> {
  /** Default: this process's environment. */
  env?: Environment;
  /** The interface on which rank 0 listens when there are several hosts. */
  iface?: string;
  tokenFile?: string;
  /** For joining, unless WEFT_JOIN_TIMEOUT says otherwise, and for each operation that names none. Default 60 s. */
  timeoutMs?: number;
  /** How often ranks show that they live. Default 2 s. */
  heartbeatMs?: number;
  /** How long a rank may be silent, stopped or swapped out, before it counts as lost. Default 30 s. */
  silenceMs?: number;
  /**
   * How many ranks get from one what all ranks get; where there are more, some ranks pass it on to others. The same on
   * all ranks. Default 32.
   */
  fanOut?: number;
  /** Gives up joining. */
  signal?: AbortSignal;
}

/** The ranks of one job, and their line to each other. The n-th call of a name on every rank belong together. */
export interface World extends AsyncDisposable {
  readonly rank: number;
  readonly size: number;
  readonly localRank: number;
  readonly localSize: number;
  readonly launcher: Launcher;
  /** By rank. Two ranks share memory if `bootId` and `netns` are equal. */
  readonly members: readonly Member[];
  /** The host of each rank. */
  readonly hosts: readonly string[];
  /** False when the token was derived from the launcher's ids: anyone who can read those could join. */
  readonly authenticated: boolean;
  /** On rank 0: what is slower than it should be between the ranks. */
  readonly warnings: readonly string[];
  /** Aborts when any rank fails; its reason is a WeftError naming the first failing rank. */
  readonly signal: AbortSignal;
  /** Every rank's value, on every rank. */
  allgather<T>(name: string, value: T, options?: WorldOptions): Promise<T[]>;
  /** Resolves when every rank has come. */
  barrier(name: string, options?: WorldOptions): Promise<void>;
  /** Every rank's value, on rank 0 only; the others do not wait for each other. */
  gather<T>(name: string, value: T, options?: WorldOptions): Promise<T[] | undefined>;
  /** Rank 0's value, on every rank. */
  broadcast<T>(name: string, value: T, options?: WorldOptions): Promise<T>;
  /** How far this host's clock is ahead of that of rank 0's host, now. */
  clockOffset(options?: WorldOptions): Promise<ClockOffset>;
  /** Says what this rank is doing, for the message that names it when others miss it. */
  note(text: string): void;
  /** The same, and rank 0's listener hears of it. For what takes long. */
  say(text: string): void;
  /** On rank 0: what ranks say from now on. Replaces an earlier listener. */
  hear(listener: (rank: number, text: string) => void): void;
  /**
   * Tells every rank why this one gives up; all their signals abort. Resolves with what failed first: `error`, or what
   * another rank told before, of which `error` is a consequence. `blames: 'nobody'`: the job as a whole was ended.
   */
  fail(error: unknown, options?: { blames?: 'this rank' | 'nobody' }): Promise<unknown>;
  /** Says goodbye. Closing first is no failure; rank 0 stays until all have left or `timeoutMs` has passed. */
  close(): Promise<void>;
}

/** Joins the job that the environment describes, or makes a world of one. */
export async function openWorld(options: OpenWorldOptions = {}): Promise<World> {
  enterRank();
  const env = options.env ?? process.env;
  const timeoutMs = checkedTimeout(options.timeoutMs ?? 60_000);
  const identified = identify(env, { ...options, ancestors });
  if (identified.startsRanks) throw notStarted(identified);
  const joinMs = joinTimeout(env) ?? timeoutMs;
  const leaveBoard = identified.board && leavingBoard(identified.board);
  const { identity, hosts } = await learnJob(identified, joinMs);
  const { token, authenticated } = chooseToken(env, identity, options.tokenFile);
  const meeting = planMeeting(identity, { ...options, env, interfaces: networkInterfaces() });
  const shared = {
    size: identity.size,
    secret: { token, jobId: identity.jobId },
    timeoutMs: joinMs,
    heartbeatMs: options.heartbeatMs ?? 2000,
    silenceMs: options.silenceMs ?? 30_000,
    fanOut: options.fanOut,
  };
  if (identity.rank === 0) refuseFewFiles(identity.size);
  const server =
    identity.rank === 0
      ? await RendezvousServer.open({ ...shared, meeting, expectedHosts: identity.expectedHosts })
      : undefined;
  try {
    if (server !== undefined) await announce(identity, server.address, joinMs);
    const client = await RendezvousClient.join({
      ...shared,
      hosts:
        server === undefined
          ? (hosts ?? meeting.connectHosts)
          : [reachable(server.address.address)],
      ports: server === undefined ? meeting.ports : [server.address.port],
      member: describeSelf(identity),
      listenHosts: meeting.listenHosts,
      signal: options.signal,
    });
    const world = joinedWorld(identity, authenticated, client, server, timeoutMs);
    if (leaveBoard === undefined) return world;
    const close = () => world.close().finally(leaveBoard);
    return { ...world, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await server?.close(0);
    reportFailure(error);
    throw error;
  }
}

/** Without a descriptor for each rank, rank 0 drops connections and says nothing. */
function refuseFewFiles(ranks: number): void {
  const { openFiles = Number.POSITIVE_INFINITY } = readLimits();
  const needed = ownFiles + ranks;
  if (openFiles >= needed) return;
  const message = `rank 0 may open ${openFiles} files, but needs ${needed} to meet ${ranks} ranks`;
  throw new WeftError('PREFLIGHT', message, { hint: openFilesHint });
}

/** Schedulers start hosts minutes apart, as images arrive: joining may need more patience than transfers. */
function joinTimeout({ WEFT_JOIN_TIMEOUT: given }: Environment): number | undefined {
  if (given === undefined) return undefined;
  const ms = Number(given) * 1000;
  if (given.trim() !== '' && ms > 0) return checkedTimeout(ms);
  throw new WeftError('BAD_USAGE', `WEFT_JOIN_TIMEOUT=${given} is not a number of seconds above 0`);
}

const notStarted = ({ localSize }: Identity): WeftError =>
  new WeftError('LAUNCHER_CONFLICT', `this pod has ${localSize} ranks, but they were not started`, {
    hint: 'Start the program with `weft run FILE`, or set WEFT_RANKS_PER_POD=1.',
  });

/** Timers end at 24 days; a day is as good as for ever. */
function checkedTimeout(ms: number): number {
  if (!(ms >= 0)) throw new TypeError(`timeoutMs must be a number from 0 up, not ${ms}`);
  return Math.min(ms, 86_400_000);
}

const reachable = (address: string): string =>
  address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;

/** What may be the consequence of another rank's failure. What ranks refuse alike is each one's own. */
const mayFollow = (error: unknown): boolean =>
  (['ABORTED', 'FABRIC_FAULT', 'PEER_LIBRARY', 'PEER_LOST', 'TIMEOUT'] as const).some((code) =>
    isWeftError(error, code),
  );

function joinedWorld(
  identity: Identity,
  authenticated: boolean,
  client: RendezvousClient,
  server: RendezvousServer | undefined,
  defaultTimeoutMs: number,
): World {
  const { rank, size, localRank, localSize, launcher } = identity;
  const { members, signal } = client;
  const limits = (options: WorldOptions = {}) => ({
    timeoutMs: checkedTimeout(options.timeoutMs ?? defaultTimeoutMs),
    signal: options.signal,
  });
  const inOrder = <T>(values: Map<number, unknown>): T[] =>
    Array.from({ length: size }, (_, source) => values.get(source) as T);
  let closing: Promise<void> | undefined;
  let told: unknown;
  const close = () => {
    closing ??= client.close().then(() => server?.close(defaultTimeoutMs));
    return closing;
  };
  return {
    ...{ rank, size, localRank, localSize, launcher, authenticated, members, signal },
    warnings: server?.warnings ?? [],
    hosts: members.map((member) => member.host),
    async allgather(name, value, options) {
      return inOrder(await client.collect('allgather', name, value, limits(options)));
    },
    async barrier(name, options) {
      await client.collect('barrier', name, null, limits(options));
    },
    async gather(name, value, options) {
      const values = await client.collect('gather', name, value, limits(options));
      return rank === 0 ? inOrder(values) : undefined;
    },
    async broadcast<T>(name: string, value: T, options?: WorldOptions) {
      const mine = rank === 0 ? value : null;
      const values = await client.collect('broadcast', name, mine, limits(options));
      return values.get(0) as T;
    },
    clockOffset: (options) => client.clockOffset(limits(options)),
    note: (text) => client.note(text),
    say: (text) => client.note(text, { aloud: true }),
    hear: (listener) => server?.hear(listener),
    async fail(error, { blames = 'this rank' } = {}) {
      const first = () => {
        if (client.failedRank === rank) return told ?? error;
        return mayFollow(error) ? (signal.reason ?? error) : error;
      };
      // The world's own abort comes back as this error: the first failing rank has been named already.
      if (signal.aborted) return first();
      // What this rank told is why the others leave, and may be why it fails again.
      if (told !== undefined) return told;
      told = error;
      reportFailure(error);
      const message = messageOf(error);
      const ofJob = blames === 'nobody';
      const coded = error instanceof WeftError && !ofJob ? `${error.code}: ${message}` : message;
      const hint = error instanceof WeftError ? error.hint?.slice(0, 2048) : undefined;
      await client.fail({ code: 'ABORTED', message: coded.slice(0, 4096), hint, ofJob });
      return first();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
