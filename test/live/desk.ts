import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type LivePage, type ServeOptions, startPage } from '../../src/live/server.js';
import { RunFile } from '../../src/results/run-file.js';
import type { Row, RunHeader } from '../../src/results/schema.js';
import { header, sampleRow } from '../results/fixtures.js';

export const builtFolder = resolve(import.meta.dirname, '../../dist');
export const token = 'a-token-only-for-tests';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** A folder of run files, and a page over it. */
export class PageDesk implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'weft-live-'));
  page!: LivePage;

  static async open(options: Partial<ServeOptions> = {}): Promise<PageDesk> {
    const desk = new PageDesk();
    await desk.serve(options);
    return desk;
  }

  async serve(options: Partial<ServeOptions> = {}): Promise<void> {
    this.page = await startPage({ folder: this.folder, token, builtFolder, ...options });
  }

  /** A run in this folder that is still being written. */
  begin(id: string, changes: Partial<RunHeader> = {}): RunFile {
    const startedAt = new Date().toISOString();
    return new RunFile({ ...header, id, startedAt, ...changes }, { folder: this.folder });
  }

  /** A run that passed. */
  finished(id: string, rows: readonly Row[], changes: Partial<RunHeader> = {}): void {
    const file = this.begin(id, changes);
    for (const row of rows) file.append(row);
    finish(file);
  }

  get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
    return this.raw(path, { authorization: `Bearer ${token}`, ...headers }, method);
  }

  /** Without a token unless given one; the path goes out as it is. */
  raw(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { port } = this.page;
      const options = { host: '127.0.0.1', port, path, headers, method, agent: false as const };
      request(options, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode!, headers: response.headers, text }),
        );
        response.on('error', reject);
      })
        .on('error', reject)
        .end();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export const finish = (file: RunFile): void =>
  file.finish({ endedAt: new Date().toISOString(), outcome: 'passed', errors: [] });

export const row = (bytes: number, column = 'SinglePin'): Row =>
  sampleRow({ column, bytes, us: bytes / 1000 + 5 });

export interface SentEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: unknown;
}

/** A viewer of server-sent events, as a browser is one. */
export class Viewer implements Disposable {
  readonly events: SentEvent[] = [];
  readonly closed: Promise<void>;
  readonly #abort = new AbortController();
  #wake: () => void = () => {};

  constructor({ page }: PageDesk, path: string, lastEventId?: string) {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    };
    const url = `http://127.0.0.1:${page.port}${path}`;
    this.closed = this.#read(url, headers).catch(() => {});
  }

  async #read(url: string, headers: Record<string, string>): Promise<void> {
    const response = await fetch(url, { headers, signal: this.#abort.signal });
    let text = '';
    const decoder = new TextDecoder();
    for await (const piece of response.body!) {
      text += decoder.decode(piece as Uint8Array, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) this.#take(block);
      this.#wake();
    }
  }

  #take(block: string): void {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
    const event = field('event');
    if (event === undefined) return;
    this.events.push({ event, id: field('id'), data: JSON.parse(field('data') ?? 'null') });
  }

  /** Resolves when what has come satisfies the question. */
  async until(enough: (viewer: this) => boolean): Promise<this> {
    while (!enough(this)) {
      const gone = await Promise.race([
        new Promise<false>((resolve) => {
          this.#wake = () => resolve(false);
        }),
        this.closed.then(() => true),
      ]);
      if (gone && !enough(this)) throw new Error(`ended with ${JSON.stringify(this.events)}`);
    }
    return this;
  }

  /** Kinds of lines with their sizes, in order, without those before a reset. */
  get lines(): string[] {
    const last = this.events.findLastIndex(({ event }) => event === 'reset');
    return this.events.slice(last + 1).flatMap(({ event, data }) => {
      if (event !== 'lines') return [];
      const { lines } = data as { lines: { line: string; bytes?: number }[] };
      return lines.map(({ line, bytes }) => (bytes === undefined ? line : `${line} ${bytes}`));
    });
  }

  get ended(): unknown {
    return this.events.find(({ event }) => event === 'end')?.data;
  }

  [Symbol.dispose](): void {
    this.#abort.abort();
  }
}
