import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

const mostWords = 4000;
const longestLine = 64 << 10;

/** The end of what a stream said, for the message about a rank that died. */
export class LastWords {
  #text = '';

  add(text: string): void {
    this.#text = (this.#text + text).slice(-mostWords);
  }

  tail(lines = 12): string {
    return this.#text.trim().split('\n').slice(-lines).join('\n');
  }
}

interface ForwardOptions {
  readonly to: Writable;
  /** Put before each line; undefined passes the bytes on as they are. */
  readonly prefix: string | undefined;
  readonly words: LastWords | undefined;
}

/** Copies a rank's output. With a prefix whole lines are written, so that ranks do not cut each other's. */
export function forward(from: Readable, { to, prefix, words }: ForwardOptions): void {
  const decoder = new StringDecoder('utf8');
  let line = '';
  const write = (text: string) => {
    if (prefix === undefined) {
      to.write(text);
      return;
    }
    const lines = (line + text).split('\n');
    line = lines.pop() ?? '';
    if (line.length > longestLine) {
      lines.push(line);
      line = '';
    }
    if (lines.length > 0) to.write(lines.map((each) => `${prefix}${each}\n`).join(''));
  };
  from.on('data', (bytes: Buffer) => {
    const text = decoder.write(bytes);
    words?.add(text);
    write(text);
  });
  from.on('end', () => {
    const rest = decoder.end();
    write(prefix !== undefined && line + rest !== '' ? `${rest}\n` : rest);
  });
  from.on('error', () => {});
}
