import { describeRun } from '../../results/formats/notes.js';
import type { Run } from '../../results/schema.js';
import type { ComparisonAnswer } from '../wire.js';
import { ChartsView } from './charts-view.js';
import { element, setText, show, tableBox } from './dom.js';
import { followRun, type LiveRun } from './run-stream.js';
import { dateText, runAddress } from './words.js';

/** While runs grow, what is said of them is asked for this often. */
const pauseMs = 5_000;

/** Two runs: what `weft compare` says of them, and both in the same charts. Runs that are running are followed. */
export function showComparison(keys: readonly [string, string]): void {
  document.title = 'Comparison · Weft';
  const runs: (Run | undefined)[] = [undefined, undefined];
  const sides = keys.map((key, i) => sideOf(key, 'AB'[i]!));
  const said = new Said(keys);
  const charts = new ChartsView();
  show(
    element('div', { class: 'title' }, element('h1', {}, 'Comparison')),
    element('div', { class: 'sides' }, ...sides.map(({ root }) => root)),
    said.answer,
    element('h2', {}, 'Row by row'),
    said.table,
    said.notes,
    element('h2', {}, 'Charts'),
    charts.root,
  );
  keys.forEach((key, i) => {
    followRun(key, (live) => {
      sides[i]!.set(live);
      runs[i] = live.run;
      const both = runs.filter((run) => run !== undefined);
      if (both.length < 2) return;
      charts.set(both);
      said.renew(live.state === 'running' ? pauseMs : 0);
    });
  });
}

function sideOf(key: string, letter: string) {
  const facts = element('p', { class: 'subject' });
  const link = element('a', { href: runAddress(key) }, key);
  const root = element('div', { class: 'card' }, element('h2', {}, `${letter}: `, link), facts);
  const set = ({ run, state, problem }: LiveRun) => {
    if (run === undefined) {
      setText(facts, problem ?? '');
      return;
    }
    setText(link, run.benchmark);
    setText(facts, `${describeRun(run)} · ${dateText(run.startedAt)} · ${state}`);
  };
  return { root, set };
}

/** What the server says of the two: it has all samples. */
class Said {
  readonly answer = element('p', { class: 'standing', 'aria-live': 'polite' });
  readonly notes = element('ul', { class: 'points compared' });
  readonly table: HTMLElement;
  readonly #head = element('tr');
  readonly #body = element('tbody');
  readonly #address: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = false;

  constructor([a, b]: readonly [string, string]) {
    this.#address = `/api/compare?${new URLSearchParams({ a, b })}`;
    this.table = tableBox('Row by row', 'Both runs, row by row', this.#head, this.#body);
  }

  /** At once the first time; later asks within the pause are one. */
  renew(waitMs: number): void {
    if (waitMs === 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    this.#timer ??= setTimeout(() => void this.#ask(), this.#asked ? waitMs : 0);
    this.#asked = true;
  }

  /** What went wrong on the way is said in the same place as what the server says. */
  async #fetched(): Promise<ComparisonAnswer> {
    try {
      const response = await fetch(this.#address);
      if (response.ok) return (await response.json()) as ComparisonAnswer;
      return { problem: `The comparison was refused: ${(await response.text()).trim()}` };
    } catch {
      return { problem: 'No comparison: the connection was lost. Reload the page.' };
    }
  }

  async #ask(): Promise<void> {
    this.#timer = undefined;
    const said = await this.#fetched();
    if ('problem' in said) {
      setText(this.answer, said.problem);
      return;
    }
    setText(this.answer, said.summary);
    const { heads, lines, left = [] } = said.table;
    const classOf = (i: number) => (left.includes(i) ? 'text' : undefined);
    this.#head.replaceChildren(
      ...heads.map((text, i) => element('th', { scope: 'col', class: classOf(i) }, text)),
    );
    this.#body.replaceChildren(
      ...lines.map((line, at) => {
        const cells = line.map((text, i) => element('td', { class: classOf(i) }, text));
        return element('tr', { 'data-verdict': said.verdicts[at] }, ...cells);
      }),
    );
    this.notes.replaceChildren(...said.notes.map((text) => element('li', {}, text)));
  }
}
