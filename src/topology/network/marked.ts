import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { badLine } from './network.js';

/** A value of a YAML or JSON file that knows its line. */
export class Marked {
  readonly line: number;
  readonly #node: unknown;
  readonly #file: string;
  readonly #counter: LineCounter;

  /** `line`: where it is named, if that is said elsewhere. */
  private constructor(node: unknown, file: string, counter: LineCounter, line?: number) {
    this.#node = node;
    this.#file = file;
    this.#counter = counter;
    const range = (node as { range?: readonly number[] } | null)?.range;
    this.line = line ?? counter.linePos(range?.[0] ?? 0).line;
  }

  /** Parses YAML, of which JSON is a part. */
  static parse(text: string, file: string): Marked {
    const counter = new LineCounter();
    const { errors, contents } = parseDocument(text, { lineCounter: counter, prettyErrors: false });
    const [error] = errors;
    if (error) throw badLine(file, counter.linePos(error.pos[0]).line, error.message);
    return new Marked(contents, file, counter);
  }

  /** The entries of a map. `what` names this value in an error. */
  entries(what: string): [key: string, value: Marked][] {
    if (!isMap(this.#node)) throw this.bad(`${what} must be a map of names`);
    return this.#node.items.map(({ key, value }) => {
      const name = new Marked(key, this.#file, this.#counter);
      return [name.text('a name'), new Marked(value, this.#file, this.#counter, name.line)];
    });
  }

  /** The entry of a map with this key; undefined where there is none. */
  get(key: string, what: string): Marked | undefined {
    return this.entries(what).find(([name]) => name === key)?.[1];
  }

  items(what: string): Marked[] {
    if (!isSeq(this.#node)) throw this.bad(`${what} must be a list`);
    return this.#node.items.map((item) => new Marked(item, this.#file, this.#counter));
  }

  text(what: string): string {
    const text = this.maybeText();
    if (text === undefined) throw this.bad(`${what} must be text`);
    return text;
  }

  /** As written: a host may be called 007. Undefined where it is something else, or empty. */
  maybeText(): string | undefined {
    if (!isScalar(this.#node) || this.#node.value === null) return undefined;
    return this.#node.source || undefined;
  }

  /** Text, or several in a list. */
  texts(what: string): Marked[] {
    return isSeq(this.#node) ? this.items(what) : [this];
  }

  bad(what: string): Error {
    return badLine(this.#file, this.line, what);
  }
}
