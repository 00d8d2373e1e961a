/**
 * Charts are plain JSON, so that one description serves an SVG file, a report and a live page. Where a drawing
 * needs a colour of the theme or a function, the description holds a word that begins with `@`; `hydrate` puts the
 * real thing in its place. Only keys that never hold a user's text are looked at.
 */
import {
  formatBytesRounded,
  formatDuration,
  formatNanoseconds,
  significant,
} from '../measure/units.js';

/** Which of the two sets of colours. */
export type ThemeName = 'light' | 'dark';

/**
 * After Okabe and Ito, and Tol; darkened or lightened until each has 3:1 against its paper. Every common kind of colour
 * blindness tells `series` apart, in this order; `heat` goes from low to high, ordered by lightness as well.
 */
export const themes = {
  light: {
    paper: '#ffffff',
    text: '#1c2430',
    muted: '#566173',
    line: '#8a94a3',
    grid: '#e3e7ed',
    warn: '#a8480a',
    series: [
      '#0b69a8',
      '#c4530a',
      '#00795a',
      '#a8458a',
      '#8f6d00',
      '#2f8fc4',
      '#4a4f5c',
      '#6a4fc0',
    ],
    heat: ['#fff3cf', '#fbd18a', '#f2a25c', '#d96c5b', '#a8436c', '#6c2a78', '#331b5e'],
  },
  dark: {
    paper: '#14181f',
    text: '#e6eaf0',
    muted: '#a3adbb',
    line: '#6b7686',
    grid: '#2a313c',
    warn: '#ffb37a',
    series: [
      '#5cb3ee',
      '#f0954f',
      '#3fc49a',
      '#e28fc8',
      '#dfc04a',
      '#9ad4f5',
      '#b8bfcc',
      '#ab98f5',
    ],
    heat: ['#2b1b52', '#5b2a78', '#94406f', '#c9605f', '#ea9154', '#f8c37a', '#fff0c4'],
  },
} satisfies Record<ThemeName, object>;
type Theme = (typeof themes)[ThemeName];

type Text = (value: number) => string;

/** What an axis or a tooltip writes for a number, by the name a chart gives. */
export const texts: Record<string, Text> = {
  bytes: formatBytesRounded,
  ns: formatNanoseconds,
  gbps: (value) => `${significant(value)} Gbps`,
  percent: (value) => `${significant(value)} %`,
  mops: (value) => `${significant(value)} Mops/s`,
  ratio: (value) => `${significant(value)}×`,
  number: significant,
  /** Seconds since something began. */
  elapsed: (value) => formatDuration(Math.round(value * 10) * 100),
  date: (milliseconds) =>
    `${new Date(milliseconds).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
};

interface HydrateOptions {
  readonly theme: ThemeName;
  /** `@tooltip KIND NAME…` becomes what this returns for its words; without it there is no tooltip. */
  readonly tooltip?: (words: readonly string[]) => unknown;
}

const colourKeys = new Set(['color', 'borderColor', 'backgroundColor', 'textBorderColor']);

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A copy of `option` that can be drawn. */
export const hydrate = (option: unknown, options: HydrateOptions): Record<string, unknown> =>
  walk('', option, options) as Record<string, unknown>;

function walk(key: string, value: unknown, options: HydrateOptions): unknown {
  if (typeof value === 'string') return word(key, value, options);
  // Data is numbers and users' names: neither needs anything, and there may be much of it.
  if (Array.isArray(value)) return value.map((each) => walk(key, each, options));
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, walk(name, inner, options)]),
  );
}

function word(key: string, value: string, options: HydrateOptions): unknown {
  if (!value.startsWith('@')) return value;
  if (colourKeys.has(key)) return colourOf(value.slice(1), themes[options.theme]);
  if (key !== 'formatter') return value;
  const [name = '', ...words] = value.slice(1).split(' ');
  if (name === 'tooltip') return options.tooltip?.(words);
  if (name === 'value') return valueText(words[0]!, Number(words[1]));
  return texts[name];
}

/** `@value TEXT INDEX`: beside a mark stands that number of it. */
const valueText =
  (name: string, index: number) =>
  ({ value }: { value: number[] }): string =>
    texts[name]!(value[index]!);

function colourOf(name: string, theme: Theme): string {
  const [, list, index] = /^(series|heat)(\d+)$/.exec(name) ?? [];
  const colours = list === 'series' || list === 'heat' ? theme[list] : undefined;
  if (colours !== undefined) return colours[Number(index) % colours.length]!;
  return String(theme[name as keyof Theme] ?? theme.text);
}

/** What charts leave for ECharts' own legend, which pages do without. */
export const legendHeightPx = 34;
const legendRowPx = 26;
const mostLegendRows = 5;

export interface LegendParts {
  readonly legend?: { readonly data: readonly string[] };
  readonly grid: { readonly top: number };
  readonly title: { readonly top: number };
}

/**
 * The option with its whole legend in view, as far as a few lines hold it, and how much higher that makes the chart.
 * Widths are estimates: only whoever draws knows the font.
 */
export function unfoldLegend(
  option: Readonly<Record<string, unknown>>,
  widthPx: number,
): { option: Record<string, unknown>; extraPx: number } {
  const { legend, grid, title } = option as unknown as LegendParts;
  if (legend === undefined) return { option: { ...option }, extraPx: 0 };
  let rows = 1;
  let used = 0;
  for (const name of legend.data) {
    const needed = 60 + name.length * 7.5;
    if (used > 0 && used + needed > widthPx) {
      rows++;
      used = 0;
    }
    used += needed;
  }
  if (rows > mostLegendRows) return { option: { ...option }, extraPx: 0 };
  const extraPx = (rows - 1) * legendRowPx;
  const lower = (part: { top: number }) => ({ ...part, top: part.top + extraPx });
  const unfolded = { legend: { ...legend, type: 'plain' }, grid: lower(grid), title: lower(title) };
  return { option: { ...option, ...unfolded }, extraPx };
}
