import { plural } from '../../measure/units.js';
import { fabricName } from '../../results/fabric-name.js';
import type { Listing, RunSummary } from '../wire.js';
import { showConnectionOf } from './connection.js';
import { element, setAttributes, setText, show } from './dom.js';
import { spark } from './spark.js';
import { dateText, headlineText, nameOf, none, runAddress } from './words.js';

/** As many runs as are shown at once. */
const pageLength = 100;

/** A page of the list, newest first, as it changes. Returns the function that stops it. */
export function followList(from: number, changed: (listing: Listing) => void): () => void {
  const source = new EventSource(`/api/runs/events?from=${from}&count=${pageLength}`);
  showConnectionOf(source);
  source.addEventListener('runs', ({ data }: MessageEvent<string>) => changed(JSON.parse(data)));
  return () => source.close();
}

const heads = [
  'Compare',
  'Run',
  'Started',
  'World',
  'Provider',
  'Outcome',
  'Best',
  'Trend',
  'Rows',
];

/** The runs of the folder; two can be picked to compare. */
export function showList(): void {
  document.title = 'Runs · Weft';
  const picked = new Set<string>();
  const compare = element(
    'a',
    { class: 'button', role: 'link', 'aria-disabled': 'true' },
    'Compare',
  );
  const hint = element('span', { class: 'hint', role: 'status' });
  const about = element('p', { class: 'subject' }, 'Reading the folder …');
  const body = element('tbody');
  const head = element('tr', {}, ...heads.map((text) => element('th', { scope: 'col' }, text)));
  const caption = element('caption', { class: 'hidden' }, 'Runs, newest first');
  const table = element('table', { class: 'runs' }, caption, element('thead', {}, head), body);
  const lines = new Map<string, Line>();
  const pick = () => {
    const [a, b] = [...picked];
    const ready = picked.size === 2;
    setAttributes(compare, {
      href: ready ? `/compare?a=${encodeURIComponent(a!)}&b=${encodeURIComponent(b!)}` : undefined,
      'aria-disabled': ready ? undefined : 'true',
    });
    setText(hint, ready ? 'two runs selected' : `select ${2 - picked.size} to compare`);
    for (const line of lines.values()) line.allow(picked);
  };
  const bar = element('div', { class: 'actions' }, compare, hint);
  let stop = () => {};
  const turn = (from: number) => {
    stop();
    stop = followList(from, (listing) => {
      setText(about, aboutText(listing));
      setLines(body, lines, listing.runs, (key) => new Line(key, picked, pick));
      pages.set(listing);
      // Where all runs are shown, what is not among them is gone.
      if (listing.runs.length === listing.total) {
        for (const key of picked) if (!lines.has(key)) picked.delete(key);
      }
      pick();
    });
  };
  const pages = new Pages(turn);
  show(
    element('div', { class: 'title' }, element('h1', {}, 'Runs')),
    about,
    bar,
    element('div', { class: 'wide' }, table),
    pages.root,
  );
  turn(0);
}

/** Newer and older runs than those shown; nothing where all are. */
class Pages {
  readonly root = element('nav', {
    class: 'pages',
    'aria-label': 'Pages of the list',
    hidden: true,
  });
  readonly #where = element('span', { class: 'hint', role: 'status' });
  readonly #newer = element('button', { type: 'button' }, 'Newer');
  readonly #older = element('button', { type: 'button' }, 'Older');
  #from = 0;

  constructor(turn: (from: number) => void) {
    this.#newer.addEventListener('click', () => turn(Math.max(0, this.#from - pageLength)));
    this.#older.addEventListener('click', () => turn(this.#from + pageLength));
    this.root.append(this.#newer, this.#where, this.#older);
  }

  set({ from, total, runs }: Listing): void {
    this.#from = from;
    const to = from + runs.length;
    setText(this.#where, `${from + 1} to ${to} of ${total}`);
    this.#newer.disabled = from === 0;
    this.#older.disabled = to >= total;
    setAttributes(this.root, { hidden: total <= pageLength });
  }
}

/** Makes the body's lines those of the runs, in their order. */
function setLines(
  body: HTMLElement,
  lines: Map<string, Line>,
  runs: readonly RunSummary[],
  make: (key: string) => Line,
): void {
  const keys = new Set(runs.map(({ key }) => key));
  for (const [key, line] of lines) {
    if (keys.has(key)) continue;
    line.root.remove();
    lines.delete(key);
  }
  runs.forEach((run, index) => {
    const line = lines.get(run.key) ?? make(run.key);
    lines.set(run.key, line);
    line.set(run);
    if (body.children[index] !== line.root)
      body.insertBefore(line.root, body.children[index] ?? null);
  });
}

function aboutText({ folder, problem, unwatched, reading, total }: Listing): string {
  if (problem !== undefined) return `${folder} cannot be read: ${problem}`;
  if (reading !== undefined) return `Reading ${folder}: ${reading.done} of ${reading.of} new files`;
  const late =
    unwatched === undefined
      ? ''
      : `; updates are delayed, since the folder cannot be watched (${unwatched})`;
  return `${plural(total, 'run')} in ${folder}${late}`;
}

class Line {
  readonly root: HTMLTableRowElement;
  readonly #key: string;
  readonly #box: HTMLInputElement;
  readonly #link: HTMLAnchorElement;
  readonly #state = element('span', { class: 'state' });
  readonly #cells: readonly HTMLElement[];
  #trend = '';

  constructor(key: string, picked: Set<string>, changed: () => void) {
    this.#key = key;
    this.#box = element('input', { type: 'checkbox' });
    this.#box.checked = picked.has(key);
    this.#box.addEventListener('change', () => {
      if (this.#box.checked) picked.add(key);
      else picked.delete(key);
      changed();
    });
    this.#link = element('a', { href: runAddress(key) });
    this.#cells = heads.map((title) => element('td', { 'data-title': title }));
    this.#cells[0]!.append(this.#box);
    this.#cells[1]!.append(this.#link);
    this.#cells[5]!.append(this.#state);
    this.root = element('tr', {}, ...this.#cells);
  }

  /** A third cannot be picked. */
  allow(picked: ReadonlySet<string>): void {
    const readable = this.root.dataset.state !== 'unreadable';
    this.#box.disabled = !readable || (picked.size >= 2 && !picked.has(this.#key));
  }

  #setTrend({ trend = [], headline }: RunSummary): void {
    const values = trend.join(' ');
    if (values === this.#trend) return;
    this.#trend = values;
    const row = headline ? headlineText(headline) : '';
    const drawn = spark(trend, `Trend over ${trend.length} runs, ending with ${row}`);
    this.#cells[7]!.replaceChildren(...(drawn ? [drawn] : []));
  }

  set(run: RunSummary): void {
    const { header, state } = run;
    setAttributes(this.root, { 'data-state': state });
    setText(this.#link, nameOf(run));
    setAttributes(this.#link, {
      title: run.key,
      href: state === 'unreadable' ? undefined : runAddress(run.key),
    });
    const when = dateText(header?.startedAt ?? run.modifiedAt);
    setAttributes(this.#box, { 'aria-label': `Compare ${nameOf(run)} of ${when}` });
    setText(this.#state, state);
    setAttributes(this.#state, { 'data-state': state });
    const world = header?.world;
    const texts = [
      when,
      world ? `${plural(world.ranks, 'rank')}, ${plural(world.hosts.length, 'host')}` : none,
      (header && fabricName(header.fabric)) ?? none,
    ];
    texts.forEach((text, i) => {
      setText(this.#cells[2 + i]!, text);
    });
    setText(this.#cells[6]!, run.headline ? headlineText(run.headline) : (run.problem ?? none));
    this.#setTrend(run);
    setText(this.#cells[8]!, String(run.rows));
  }
}
