import { texts } from '../../report/hydrate.js';
import { element } from './dom.js';

/** What ECharts hands to a tooltip's formatter, as far as it is used. */
interface Pointed {
  readonly seriesName?: string;
  readonly name?: string;
  readonly value?: unknown;
  readonly color?: unknown;
  readonly axisValue?: unknown;
}

const written = (name: string | undefined, value: unknown): string =>
  typeof value === 'number' ? (texts[name ?? 'number'] ?? String)(value) : String(value ?? '');

/** A tooltip of elements: markup with styles in it would be refused by the page's policy. */
export function tooltip([kind, first, second]: readonly string[]): unknown {
  return (pointed: Pointed | readonly Pointed[]): HTMLElement => {
    const list = Array.isArray(pointed) ? (pointed as Pointed[]) : [pointed as Pointed];
    if (kind === 'axis') return axisTip(list, first!, second!);
    return itemTip(list[0]!, first, second);
  };
}

function axisTip(list: readonly Pointed[], of: string, text: string): HTMLElement {
  const head = of === 'name' ? list[0]?.name : written(of, Number(list[0]?.axisValue));
  const seen = new Set<string>();
  const lines = list.flatMap(({ seriesName = '', value, color }) => {
    // Bands carry their line's name; the line comes first.
    if (seen.has(seriesName) || !Array.isArray(value)) return [];
    seen.add(seriesName);
    const [, mean, low, high] = value as number[];
    const range =
      low === undefined || high === undefined || low === high
        ? ''
        : ` (${written(text, low)} to ${written(text, high)})`;
    return [lineOf(color, seriesName, written(text, mean) + range)];
  });
  return element('div', { class: 'tip' }, element('strong', {}, head ?? ''), ...lines);
}

function itemTip({ seriesName, name, value, color }: Pointed, ...names: (string | undefined)[]) {
  const values = Array.isArray(value) ? (value as unknown[]) : [value];
  const shown = values.filter((each) => typeof each === 'number').slice(-Math.max(1, names.length));
  const text = shown.map((each, i) => written(names[i], each)).join(', ');
  return element('div', { class: 'tip' }, lineOf(color, name || seriesName || '', text));
}

function lineOf(color: unknown, name: string, text: string): HTMLElement {
  const mark = element('span', { class: 'mark' });
  if (typeof color === 'string') mark.style.background = color;
  return element('p', {}, mark, `${name} `, element('b', {}, text));
}
