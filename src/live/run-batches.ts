import { type FileHandle, open } from 'node:fs/promises';
import { readOwnFile } from '../results/open-file.js';
import { isBlank } from '../results/run-lines.js';
import { parseLine } from '../results/run-reader.js';
import type { RunLog } from './run-log.js';
import type { Lines, WireLine } from './wire.js';

/** Lines of a run as the page gets them, and the line after them. */
export interface Batch {
  readonly json: string;
  readonly next: number;
}

const mostLines = 64;
/** Of pairs, which go without their samples. */
const mostPairs = 2048;
const mostBytes = 2 ** 21;
const keptBatches = 8;
/** Drawn distributions and quantiles do not change to the eye with more. */
export const mostSamples = 400;

/** The file became shorter between two looks at it. */
export class CutError extends Error {}

/**
 * Reads lines again for whoever asks, a bounded piece at a time, so that no viewer makes the server hold more. The last
 * few pieces are kept: viewers of the same run mostly ask for the same.
 */
export class RunBatches {
  readonly #log: RunLog;
  readonly #kept = new Map<string, Promise<Batch>>();

  constructor(log: RunLog) {
    this.#log = log;
  }

  /** Undefined where nothing follows `from` yet. */
  async after(from: number): Promise<Batch | undefined> {
    const to = this.#log.slowest ? this.#log.lines : this.#end(from);
    if (to === from) return undefined;
    const name = `${this.#log.epoch} ${from} ${to}`;
    const kept = this.#kept.get(name);
    if (kept !== undefined) return kept;
    const made = this.#log.slowest ? this.#makeSlowest(from, to) : this.#make(from, to);
    this.#kept.set(name, made);
    made.catch(() => this.#kept.delete(name));
    for (const old of this.#kept.keys()) {
      if (this.#kept.size <= keptBatches) break;
      this.#kept.delete(old);
    }
    return made;
  }

  /** Nobody looks: what was kept for them goes. */
  forget(): void {
    this.#kept.clear();
  }

  #end(from: number): number {
    const { starts, lines } = this.#log;
    let to = from;
    while (to < lines && to - from < mostLines) {
      if (to > from && starts[to + 1]! - starts[from]! > mostBytes) break;
      to++;
    }
    return to;
  }

  async #make(from: number, to: number): Promise<Batch> {
    const { starts, path, rows } = this.#log;
    const file = await open(path, readOwnFile);
    try {
      const texts = await textsIn(file, starts[from]!, starts[to]!);
      const lines = texts.map((text) => thinned(parseLine(text) ?? null));
      return { json: JSON.stringify({ from, next: to, rows, lines } satisfies Lines), next: to };
    } finally {
      await file.close();
    }
  }

  async #makeSlowest(from: number, to: number): Promise<Batch> {
    const { starts, path, rows, slowest } = this.#log;
    const chosen = slowest!.after(from, mostPairs);
    const next = chosen.length < mostPairs ? to : chosen.at(-1)! + 1;
    const lines: (WireLine | null)[] = [];
    const file = await open(path, readOwnFile);
    try {
      for (const line of chosen) {
        const [text] = await textsIn(file, starts[line]!, starts[line + 1]!);
        const parsed = parseLine(text!) ?? null;
        lines.push(parsed?.line === 'row' ? { ...parsed, samples: [] } : parsed);
      }
    } finally {
      await file.close();
    }
    return { json: JSON.stringify({ from, next, rows, lines } satisfies Lines), next };
  }
}

async function textsIn(file: FileHandle, begin: number, end: number): Promise<string[]> {
  const bytes = Buffer.allocUnsafe(end - begin);
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, begin + done);
    if (bytesRead === 0) throw new CutError('the file was truncated while it was read');
    done += bytesRead;
  }
  const texts = bytes.toString('utf8').split('\n');
  return texts.filter((text) => !isBlank(text));
}

function thinned(line: WireLine | null): WireLine | null {
  if (line?.line !== 'row' || line.samples.length <= mostSamples) return line;
  return { ...line, samples: evenRanks(line.samples, mostSamples) };
}

/** Smallest, largest, and ranks at equal distances between them. */
export function evenRanks(samples: readonly number[], count: number): number[] {
  const sorted = Float64Array.from(samples).sort();
  const step = (sorted.length - 1) / (count - 1);
  return Array.from({ length: count }, (_, i) => sorted[Math.round(i * step)]!);
}
