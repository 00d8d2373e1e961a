import { bytesText } from '../../report/hydrate.js';
import { describeRun } from '../../results/formats/notes.js';
import type { Row, Run } from '../../results/schema.js';
import { ChartsView } from './charts-view.js';
import { element, setText, show } from './dom.js';
import { followRun } from './run-stream.js';
import { dateText, micros, none, runAddress, stateText } from './words.js';

const heads = ['Size', 'Column', 'A p50 µs', 'B p50 µs', 'B over A'];

/** Two runs in the same charts, and their medians side by side. */
export function showComparison(keys: readonly [string, string]): void {
  document.title = 'Comparison · Weft';
  const runs: (Run | undefined)[] = [undefined, undefined];
  const sides = keys.map((key, i) => {
    const facts = element('p', { class: 'facts' }, ' ');
    const link = element('a', { href: runAddress(key) }, key);
    const name = element('h2', {}, `${'AB'[i]} · `, link);
    return { facts, link, root: element('div', { class: 'side' }, name, facts) };
  });
  const charts = new ChartsView();
  const body = element('tbody');
  const head = element('tr', {}, ...heads.map((text) => element('th', { scope: 'col' }, text)));
  const caption = element('caption', { class: 'hidden' }, 'Medians, row by row');
  const label = { class: 'rows', tabindex: '0', role: 'region', 'aria-label': 'Medians' };
  const table = element('table', {}, caption, element('thead', {}, head), body);
  show(
    element('h1', {}, 'Comparison'),
    element('div', { class: 'sides' }, ...sides.map(({ root }) => root)),
    element('h2', {}, 'Medians'),
    element('div', label, table),
    element('h2', {}, 'Charts'),
    charts.root,
  );
  keys.forEach((key, i) => {
    followRun(key, ({ run, state, problem }) => {
      if (run === undefined) {
        if (problem !== undefined) setText(sides[i]!.facts, problem);
        return;
      }
      runs[i] = run;
      setText(sides[i]!.link, run.benchmark);
      const text = `${describeRun(run)} · ${dateText(run.startedAt)} · ${stateText[state]}`;
      setText(sides[i]!.facts, text);
      const both = runs.filter((one) => one !== undefined);
      charts.set(both);
      if (both.length === 2) body.replaceChildren(...medians(both[0]!, both[1]!));
    });
  });
}

const nameOf = ({ column, bytes, labels }: Row): string =>
  JSON.stringify([column, bytes, labels.from, labels.to, labels.rail, labels.grid, labels.block]);

function medians(a: Run, b: Run): HTMLElement[] {
  const others = new Map(b.rows.map((row) => [nameOf(row), row]));
  return a.rows.flatMap((row) => {
    const other = others.get(nameOf(row));
    if (other === undefined || row.nanoseconds === null || other.nanoseconds === null) return [];
    const [x, y] = [row.nanoseconds.p50, other.nanoseconds.p50];
    const texts = [
      row.bytes === null ? none : bytesText(row.bytes),
      row.column,
      micros(x),
      micros(y),
      `${(y / x).toFixed(3)}×`,
    ];
    const cells = texts.map((text, i) =>
      element('td', { class: i === 1 ? undefined : 'number' }, text),
    );
    return [element('tr', {}, ...cells)];
  });
}
