import { createServer, type Server } from 'node:net';
import type { Writable } from 'node:stream';
import { WeftError } from '../../errors.js';
import { sweepSegments } from '../../fabric/segments.js';
import { oomKills, userSignals } from '../../native/process.js';
import { refuseTooMany } from './machine.js';
import { firstFailure, type Outcome, type RankExit } from './outcome.js';
import { pinPlan } from './pinning.js';
import { type RankChild, startRank } from './rank-child.js';
import { listenFd, stopWord } from './rank-process.js';
import { watchStopped } from './stopped-ranks.js';
import { jobVariables, placeVariables } from './variables.js';

/** What to start, how often, and what to do with its output. */
export interface SpawnOptions {
  readonly ranks: number;
  /** Started directly, without a shell; it must become the rank itself (`exec`), not start it. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** `auto` gives each rank its share of the cores, when there are enough. */
  readonly pin?: 'auto' | 'none';
  /** CUDA's numbers of the GPUs that ranks take in turn; decides near which cores they run. Default: all. */
  readonly gpus?: readonly number[];
  /** Show the stdout of all ranks, and put the rank before each line of stderr. */
  readonly prefix?: boolean;
  /** Every rank's stdout goes where rank 0's goes. */
  readonly everyoneSpeaks?: boolean;
  /** How long ranks have between SIGTERM and SIGKILL. Default 2 s. */
  readonly graceMs?: number;
  /** Where rank 0's stdout goes; default: this process's own, untouched. */
  readonly stdout?: Writable;
  /** Where stderr goes; default: this process's own. */
  readonly stderr?: Writable;
  /** The loopback address of the rendezvous. */
  readonly host?: '127.0.0.1' | '::1';
  /** Default: all ranks run on this host. */
  readonly hosts?: SpawnHosts;
  /** These are ranks of a larger job, from this one on; the environment says where the job meets. */
  readonly firstRank?: number;
}

/** Hosts that live on this machine, such as network namespaces. */
export interface SpawnHosts {
  /** Rank r runs on host floor(r / ranksPerHost). */
  readonly ranksPerHost: number;
  /** The words before the command that make it run on a host; they, too, must become the rank (`exec`). */
  enter(host: number): readonly string[];
  /** Where rank 0 listens, as all hosts reach it: no socket of ours is seen there. */
  readonly master: { readonly host: string; readonly port: number };
}

/** Ranks started on this machine. They end when this process does. */
export interface LocalJob {
  readonly pids: readonly number[];
  /** Resolves when every rank is gone. Never rejects. */
  readonly done: Promise<Outcome>;
  /** SIGTERM, grace, SIGKILL; resolves with `done`. */
  stop(): Promise<Outcome>;
}

/** After the first failure: time for its true cause to be seen before the rest is ended. */
const settleMs = 100;

/**
 * Starts ranks on this host and waits for them. If one fails the rest is ended; if this process dies, in
 * any way, the kernel ends the ranks. SIGINT, SIGTERM and SIGHUP to this process end the job (a second one
 * at once) and are told in the outcome: what to do then is the caller's choice.
 */
export async function spawnRanks(options: SpawnOptions): Promise<LocalJob> {
  if (!Number.isSafeInteger(options.ranks) || options.ranks < 1) {
    throw new TypeError(`ranks must be a whole number above 0, not ${options.ranks}`);
  }
  refuseTooMany(options.ranks);
  const cores = pinPlan({
    pin: options.pin ?? 'auto',
    localRanks: options.ranks,
    gpus: options.gpus,
  });
  // The socket listens before any rank exists, and rank 0 inherits it: no port is free for others to take.
  const elsewhere = options.hosts !== undefined || options.firstRank !== undefined;
  const server = elsewhere ? undefined : await listen(options.host ?? '127.0.0.1');
  const job = new Job(options, server, cores);
  return { pids: job.pids, done: job.done, stop: () => job.stop() };
}

const listen = (host: string): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port: 0, backlog: 4096 }, () => resolve(server));
  });

/** Node has no public name for it, but this one is as old as `listen({ fd })`. */
function descriptorOf(server: Server): number {
  const fd = (server as unknown as { _handle?: { fd?: number } })._handle?.fd;
  if (fd !== undefined && fd >= 0) return fd;
  throw new WeftError(
    'UNSUPPORTED',
    'this version of Node does not expose the descriptor of a listening socket',
  );
}

class Job {
  readonly done: Promise<Outcome>;
  readonly #options: SpawnOptions;
  readonly #children: RankChild[] = [];
  readonly #exits: RankExit[] = [];
  readonly #signals = userSignals();
  readonly #oomKills = oomKills();
  readonly #onSignal = (signal: NodeJS.Signals) => this.#interrupt(signal);
  #stopping = false;
  #interrupted: NodeJS.Signals | undefined;
  #killTimer: NodeJS.Timeout | undefined;
  #stoppedTimer: NodeJS.Timeout | undefined;
  readonly #stopped = new Set<RankChild>();

  constructor(
    options: SpawnOptions,
    server: Server | undefined,
    cores: readonly (readonly number[])[] | undefined,
  ) {
    this.#options = options;
    for (const signal of this.#signals) process.on(signal, this.#onSignal);
    const common = { ...process.env, ...options.env, ...jobVariables(options, server) };
    try {
      for (let local = 0; local < options.ranks; local += 1) {
        this.#start(local, { ...common, WEFT_CORES: (cores?.[local] ?? []).join(',') }, server);
        // Rank 0 has its copy; ours must not accept, and in this same turn it cannot have.
        if (local === 0) server?.close();
      }
    } catch (error) {
      this.#signalAll('SIGKILL');
      this.#ignoreSignals();
      server?.close();
      throw error;
    }
    this.done = Promise.all(this.#children.map((child) => this.#watch(child))).then(() =>
      this.#conclude(),
    );
  }

  get pids(): number[] {
    return this.#children.flatMap((child) => child.process.pid ?? []);
  }

  stop(graceMs = this.#options.graceMs ?? 2000): Promise<Outcome> {
    if (!this.#stopping && this.#exits.length < this.#options.ranks) {
      this.#stopping = true;
      const signal = this.#interrupted;
      if (signal) for (const child of this.#children) child.tell(stopWord(signal));
      this.#signalAll('SIGTERM');
      this.#killTimer = setTimeout(() => this.#signalAll('SIGKILL'), graceMs);
    }
    return this.done;
  }

  #start(local: number, env: NodeJS.ProcessEnv, server: Server | undefined): void {
    const { prefix = false, everyoneSpeaks = false, stdout, stderr, hosts } = this.#options;
    const rank = (this.#options.firstRank ?? 0) + local;
    const inherits = rank === 0 && server !== undefined;
    const enter = hosts?.enter(Math.floor(rank / hosts.ranksPerHost)) ?? [];
    const [command, ...args] = [...enter, this.#options.command, ...(this.#options.args ?? [])];
    this.#children.push(
      startRank({
        rank,
        command: command!,
        args,
        env: {
          ...env,
          ...placeVariables(local, this.#options),
          WEFT_LISTEN_FD: inherits ? String(listenFd) : undefined,
        },
        prefix,
        speaks: rank === 0 || everyoneSpeaks,
        stdout,
        stderr,
        listenFd: inherits ? descriptorOf(server) : undefined,
      }),
    );
  }

  async #watch(child: RankChild): Promise<void> {
    const exit = await child.ended;
    const lacksMemory = oomKills() > this.#oomKills;
    const stopped = this.#stopped.has(child);
    this.#exits.push({ ...exit, lacksMemory, stopped, afterStop: this.#stopping });
    if (this.#stopping) return;
    if (exit.exitCode === 0) return this.#watchStopped();
    if (exit.signal === 'SIGINT') this.#interrupted ??= 'SIGINT'; // Ctrl-C may reach a rank before us
    setTimeout(() => this.stop(), settleMs);
  }

  #watchStopped(): void {
    this.#stoppedTimer ??= watchStopped(this.#children, (stopped) => {
      for (const child of stopped) this.#stopped.add(child);
      void this.stop();
    });
  }

  #conclude(): Outcome {
    clearTimeout(this.#killTimer);
    clearInterval(this.#stoppedTimer);
    this.#ignoreSignals();
    // A rank that was killed could not remove its shared memory.
    if (this.#exits.some((exit) => exit.signal !== undefined)) sweepSegments();
    const failure = firstFailure(this.#exits);
    // Ranks that end by themselves have told what came of it.
    const orderly = this.#patience() !== undefined && this.#exits.every((exit) => !exit.signal);
    const interrupted = orderly ? undefined : this.#interrupted;
    return {
      ok: failure === undefined && interrupted === undefined,
      failure,
      interrupted,
      exits: [...this.#exits].sort((a, b) => a.rank - b.rank),
    };
  }

  #ignoreSignals(): void {
    for (const signal of this.#signals) process.off(signal, this.#onSignal);
  }

  #interrupt(signal: NodeJS.Signals): void {
    if (this.#interrupted !== undefined && this.#stopping) {
      this.#signalAll('SIGKILL'); // asked twice: no more grace
      return;
    }
    this.#interrupted = signal;
    void this.stop(this.#patience());
  }

  /** How long the ranks may take to end by themselves; undefined where one of them does not. */
  #patience(): number | undefined {
    const all = this.#children.map((child) => child.patienceMs());
    return all.includes(undefined) ? undefined : Math.max(...(all as number[]));
  }

  #signalAll(signal: NodeJS.Signals): void {
    for (const child of this.#children) {
      child.process.kill(signal);
      // A stopped process sees SIGTERM only when it continues.
      if (signal === 'SIGTERM') child.process.kill('SIGCONT');
    }
  }
}
