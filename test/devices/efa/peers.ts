import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { vi } from 'vitest';
import { efaEnvironment, efaLibraries } from '../../../src/lab/efa/environment.js';
import { efaName, machines } from '../../../src/lab/efa/machines.js';
import { type Faults, plantTree, writeFaults } from '../../../src/lab/efa/tree.js';

const machine = machines.find(({ id }) => id === 'p5en')!;

let program: string | undefined;
/** The program behind a peer, compiled once against the libraries under test. */
function peerProgram(): string {
  if (program !== undefined) return program;
  const folder = mkdtempSync(join(tmpdir(), 'weft-peer-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  program = join(folder, 'peer');
  const libraries = ['-l:libefa.so.1', '-l:libibverbs.so.1'];
  const source = resolve(import.meta.dirname, 'peer.c');
  execFileSync('gcc', ['-O2', '-o', program, source, `-L${efaLibraries()}`, ...libraries]);
  return program;
}

/** Emulated devices on loopback addresses, and processes that use them. */
export class Devices implements AsyncDisposable {
  readonly tree = mkdtempSync(join(tmpdir(), 'weft-efa-'));
  readonly #peers: Peer[] = [];

  constructor(count: number, options: { ordered?: boolean; faults?: Faults } = {}) {
    const nics = Array.from({ length: count }, (_, i) => ({
      address: `127.19.0.${i + 1}`,
      faults: options.faults ?? {},
    }));
    plantTree(join(this.tree, 'sys'), { machine, nics, ordered: options.ordered ?? false });
  }

  get environment() {
    return efaEnvironment(join(this.tree, 'sys'));
  }

  faults(index: number, faults: Faults): void {
    writeFaults(join(this.tree, 'sys'), machine, index, faults);
  }

  counter(index: number, name: string): number {
    const device = efaName(machine.efas[index]!);
    const folder = join(this.tree, 'sys/class/infiniband', device, 'ports/1/hw_counters');
    return Number(readFileSync(join(folder, name), 'utf8'));
  }

  async open(index: number): Promise<Peer> {
    const peer = new Peer(efaName(machine.efas[index]!), this.environment);
    this.#peers.push(peer);
    await peer.opened;
    return peer;
  }

  /** A process on each of the devices; each knows the other. */
  async pair(from = 0, to = 1): Promise<[Peer, Peer]> {
    const [a, b] = await Promise.all([this.open(from), this.open(to)]);
    await a.ask(`meet ${await b.opened}`);
    await b.ask(`meet ${await a.opened}`);
    return [a, b];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const peer of this.#peers) peer.process.kill('SIGKILL');
    rmSync(this.tree, { recursive: true, force: true });
  }
}

export interface Completion {
  readonly opcode: number;
  readonly status: number;
  readonly id: number;
  readonly bytes: number;
  /** Of an immediate's completion, after `look`: bytes not there when it came. */
  readonly missing?: number;
}

/** A process with one queue pair: see peer.c. */
export class Peer {
  readonly process: ChildProcessWithoutNullStreams;
  /** How others reach it; rejects when the device does not open. */
  readonly opened: Promise<string>;
  readonly #answers: AsyncIterator<string>;

  constructor(device: string, environment: object) {
    const env = { ...process.env, ...environment };
    this.process = spawn(peerProgram(), [device], { env });
    this.#answers = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
    this.opened = this.#answer();
  }

  async ask(line: string): Promise<string> {
    this.process.stdin.write(`${line}\n`);
    return this.#answer();
  }

  async completions(count: number, ms = 10_000, how = 'await'): Promise<Completion[]> {
    const answer = await this.ask(`${how} ${count} ${ms}`);
    return answer.split(' ').flatMap((word) => {
      if (word === '') return [];
      const [opcode, status, id, bytes, missing] = word.split(':').map(Number);
      return [{ opcode: opcode!, status: status!, id: id!, bytes: bytes!, missing }];
    }) as Completion[];
  }

  async #answer(): Promise<string> {
    const { value, done } = await this.#answers.next();
    if (done) throw new Error('the peer has ended');
    if (value.startsWith('failed')) throw new Error(value);
    return value;
  }
}

export const opcodes = { send: 0, write: 1, read: 2, receive: 128, immediate: 129 } as const;

/** Counters may lag behind by their lifespan, and by what a busy machine adds. */
export const eventually = (check: () => void) => vi.waitFor(check, { timeout: 3000, interval: 10 });
