import { texts } from '../hydrate.js';

/** What ECharts tells a tooltip about a mark, as far as it is used here. */
interface Mark {
  readonly seriesName: string;
  readonly name: string;
  readonly value: readonly number[] | number;
  readonly color: string;
  readonly axisValue?: number | string;
  readonly dataIndex: number;
}

/** Elements rather than markup: names come from run files and must stay text. */
export const element = (tag: string, className: string, ...children: (Node | string)[]) => {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...children);
  return made;
};

const boxNames = ['1 %', '25 %', 'median', '75 %', '99 %'];
const flagNames = ['~ noisy', '* burst', 'failed'];
const namedFlags = (bits: number): string => flagNames.filter((_, i) => bits & (1 << i)).join(', ');

/** The tooltips that charts ask for by name. `places` are the names along both axes of a map. */
export function tooltipOf(words: readonly string[], places: readonly string[]) {
  const [kind = '', first = '', second = ''] = words;
  const tooltips: Record<string, (marks: Mark | readonly Mark[]) => HTMLElement> = {
    axis: (marks) => axisTip(Array.isArray(marks) ? marks : [marks], first, second),
    cell: (mark) => cellTip(mark as Mark, first, places),
    tokens: (mark) => tokensTip(mark as Mark),
    box: (mark) => boxTip(mark as Mark),
    share: (mark) => shareTip(mark as Mark, first, second),
  };
  return tooltips[kind];
}

function axisTip(marks: readonly Mark[], xText: string, yText: string): HTMLElement {
  const [head] = marks;
  const at = head?.axisValue ?? '';
  const title = texts[xText] === undefined ? String(head?.name ?? at) : texts[xText](Number(at));
  // What a band is made of has two numbers, a point of a line has five.
  const shown = marks.filter(
    ({ value }) => Array.isArray(value) && (xText === 'name' || value.length > 2),
  );
  return tip(
    title,
    shown.map((mark) => valueLine(mark, yText)),
  );
}

function valueLine({ seriesName, value, color }: Mark, yText: string): HTMLElement {
  const [, y = 0, low, high, flags = 0] = value as readonly number[];
  const write = texts[yText]!;
  const spread =
    low === undefined || high === undefined || low === high ? '' : `${write(low)} – ${write(high)}`;
  return line(color, seriesName, write(y), [spread, namedFlags(flags)].filter(Boolean).join(' · '));
}

function cellTip({ value, color }: Mark, text: string, places: readonly string[]): HTMLElement {
  const [to = 0, from = 0, figure] = value as readonly number[];
  const written = figure === undefined ? 'no result' : texts[text]!(figure);
  return tip(`rank ${places[from]} → rank ${places[to]}`, [line(color, '', written, '')]);
}

function tokensTip({ value, color }: Mark): HTMLElement {
  const [, , tokens = 0, expert, rank, host] = value as readonly number[];
  const where = host === undefined ? '' : ` on rank ${host}`;
  return tip(`rank ${rank} → expert ${expert}${where}`, [
    line(color, 'tokens', texts.number!(tokens), ''),
  ]);
}

function boxTip({ seriesName, name, value, color }: Mark): HTMLElement {
  const values = (value as readonly number[]).slice(-5);
  const rows = values.map((each, i) => line('', boxNames[i]!, texts.ratio!(each), ''));
  return tip(`${seriesName}, ${name}`, color === '' ? [] : rows.reverse());
}

function shareTip({ seriesName, value, color }: Mark, xText: string, yText: string): HTMLElement {
  const [time = 0, share = 0] = value as readonly number[];
  return tip(seriesName, [line(color, texts[yText]!(share), `within ${texts[xText]!(time)}`, '')]);
}

const tip = (title: string, lines: readonly HTMLElement[]): HTMLElement =>
  element('div', 'tip', element('div', 'tip-title', title), ...lines);

function line(color: string, name: string, value: string, more: string): HTMLElement {
  const dot = element('span', 'tip-dot');
  dot.style.backgroundColor = color;
  return element(
    'div',
    'tip-line',
    ...(color === '' ? [] : [dot]),
    element('span', 'tip-name', name),
    element('span', 'tip-value', value),
    element('span', 'tip-more', more),
  );
}
