import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { readRun } from '../../src/results/read-run.js';
import type { Finished, Running } from '../ranks/processes.js';
import { freePort, rankEnv } from '../world/ranks-in-process.js';
import type { Cell } from './cell.js';
import { Place } from './place.js';
import { plantRun } from './plant-run.js';

const ranks = [0, 1, 2];
const reachMs = 60_000;

/** How a scene ended, as its user saw it. */
export interface Shown {
  readonly exit: number | NodeJS.Signals;
  readonly said: string;
  readonly rows: number | undefined;
  readonly outcome: string | undefined;
}

/** One cell on stage: its processes, and what can be done to them. */
export class Scene implements Disposable {
  readonly place: Place;
  readonly lab: string;
  /** Where rank 0 of another launcher's job listens. */
  port = 0;
  readonly #cell: Cell;
  #jobs: Running[] = [];

  constructor(cell: Cell, lab: string) {
    this.#cell = cell;
    this.lab = lab;
    this.place = new Place(cell.fault);
  }

  get heldRank(): number | 'main' {
    const { fault, phase, world } = this.#cell;
    if (world === 'alone') return 'main';
    // Rank 0 writes.
    if (phase === 'first-row' || phase === 'write-out' || phase === 'footer') return 0;
    return fault.held ?? Number(/^rank (\d)$/.exec(fault.on)?.[1] ?? 0);
  }

  /** The process that the user started. */
  get launcher(): number {
    return this.#jobs[0]!.child.pid!;
  }

  /** What the first process said so far. */
  get job(): Running {
    return this.#jobs[0]!;
  }

  /** What must be there before the job is. */
  async prepare(): Promise<void> {
    const { fault, world } = this.#cell;
    if (world === 'launched') this.port = await freePort();
    if (world === 'alone') plantRun(this.place.runFile);
    await fault.before?.(this);
  }

  start(): void {
    const { fault, phase, world } = this.#cell;
    const { mode = 'hold', on, env, under } = fault;
    const victim = world === 'alone' ? 'main' : on.replace('rank ', '');
    const how = mode === 'eat' ? `${mode}:${victim}` : mode;
    const holding = {
      ...this.place.holding(phase, this.heldRank, how),
      WEFT_TEST_HOLD_STEP: world === 'lab' ? '4096' : '8192',
      ...env,
    };
    if (world === 'launched') {
      const { port } = this;
      this.#jobs = ranks.map((rank) => {
        const place = { ...rankEnv(rank, { port, size: 3, token: 'secret-of-test' }), ...holding };
        return this.place.weft(this.words, place, under);
      });
      return;
    }
    this.#jobs = [this.place.weft(this.words, holding, under)];
  }

  get words(): readonly string[] {
    const { fault, phase, world } = this.#cell;
    const { runFile, results } = this.place;
    if (phase === 'serve') return ['serve', results, ...(fault.options ?? [])];
    if (phase === 'report' || phase === 'renaming') return ['report', runFile];
    const job = [
      ...['all2all', '-b', '4K', '-e', '8K', '-n', '997', '-w', '1'],
      ...['--columns', world === 'lab' ? 'MultiPin' : 'SinglePin', '--out', runFile],
      ...(world === 'local' ? ['--ranks', '3'] : []),
      ...['--timeout', String(fault.timeout ?? 20), ...(fault.options ?? [])],
    ];
    if (world === 'lab') return ['lab', 'run', '--name', this.lab, '--', ...job];
    return job;
  }

  /** Resolves when the phase is reached; rejects with what was said if the job ends before. */
  async reached(): Promise<void> {
    const end = performance.now() + reachMs;
    let ended: Finished | undefined;
    void this.job.finished.then((finished) => {
      ended = finished;
    });
    while (!this.place.isReached) {
      if (ended) throw new Error(`ended before the phase: ${ended.stdout}${ended.stderr}`);
      if (performance.now() > end) throw new Error('the phase was not reached');
      await sleep(10);
    }
  }

  /** Everything has ended, or the deadline has passed. */
  async end(deadlineSeconds: number): Promise<Shown> {
    const waited = Promise.all(this.#survivors().map(({ finished }) => finished));
    const late = sleep(deadlineSeconds * 1000, undefined, { ref: false });
    const ends = await Promise.race([waited, late]);
    if (ends === undefined) throw new Error(`still running ${deadlineSeconds} s after the fault`);
    const codes = new Set(ends.map(({ code, signal }) => signal ?? code ?? -1));
    if (codes.size > 1) throw new Error(`ranks ended with ${[...codes].join(' and ')}`);
    const said = ends.map(({ stdout, stderr }) => stdout + stderr).join('');
    return { exit: [...codes][0]!, said, ...this.#kept() };
  }

  /** What another launcher would do with a rank that stands still. */
  endVictim(): void {
    const { fault, world } = this.#cell;
    if (world !== 'launched') return;
    this.#jobs.find((_, rank) => fault.on === `rank ${rank}`)?.child.kill('SIGKILL');
  }

  /** Of another launcher's ranks, the one that is hit may stand still for ever: nobody here may end it. */
  #survivors(): readonly Running[] {
    const { fault, world } = this.#cell;
    if (world !== 'launched') return this.#jobs;
    return this.#jobs.filter((_, rank) => fault.on !== `rank ${rank}`);
  }

  #kept(): Pick<Shown, 'rows' | 'outcome'> {
    const { runFile } = this.place;
    if (!existsSync(runFile)) return { rows: undefined, outcome: undefined };
    const { run, damage } = readRun(runFile);
    const torn = damage && !/has no footer|ends early/.test(damage.message);
    if (torn) throw damage;
    return { rows: run.rows.length, outcome: run.outcome };
  }

  [Symbol.dispose](): void {
    this.place[Symbol.dispose]();
  }
}

/** A message as the table shows it: the same on every machine and in every run. */
export const plain = (said: string, { place, lab }: Pick<Scene, 'place' | 'lab'>): string =>
  said
    .replaceAll(place.folder, '')
    .replaceAll(lab, 'LAB')
    .replaceAll(new RegExp(`\\b(host |warning: )${hostname()}\\b`, 'g'), '$1HOST')
    .replaceAll(/pid \d+/g, 'pid N')
    .replaceAll(/\bport \d+|127\.0\.0\.1:\d+/g, 'port N')
    .replaceAll(/\d+(\.\d+)? s ago/g, 'N s ago')
    .replaceAll(/silent for \d+(\.\d+)? s/g, 'silent for N s');
