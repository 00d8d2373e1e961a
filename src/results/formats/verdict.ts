import type { Grade, Item, Verdict } from '../../analysis/verdict/verdict.js';
import { differenceLines } from './differences.js';
import { type Ink, painter, wrap } from './text.js';

interface Look {
  readonly color?: boolean;
  readonly width?: number;
  readonly all?: boolean;
}

const inkOf: Record<Grade, Ink> = { pass: 'bold', degraded: 'yellow', fail: 'red' };
const gradeWidth = 10;

/** The verdict, then each item that did not pass with its reason and the next step. */
export function formatVerdict(verdict: Verdict, look: Look = {}): string {
  const { color = false, width = 80, all = false } = look;
  const paint = painter(color);
  const { grade, items, against, notes, emulated, differences = [] } = verdict;
  const count = (of: Grade) => items.filter((item) => item.grade === of).length;
  const counts = (['fail', 'degraded', 'pass'] as const)
    .filter((of) => count(of) > 0)
    .map((of) => `${count(of)} ${of}`);
  const indent = ' '.repeat(gradeWidth);
  const lineOf = ({ name, grade: own, reason, next }: Item) => [
    `${paint(inkOf[own], own.toUpperCase().padEnd(gradeWidth))}${name}`,
    ...wrap(reason, width - gradeWidth).map((line) => indent + line),
    ...(next === undefined
      ? []
      : wrap(`→ ${next}`, width - gradeWidth).map((line) => indent + line)),
  ];
  const shown = items
    .filter((item) => all || item.grade !== 'pass')
    .sort((a, b) => levels[b.grade] - levels[a.grade]);
  return `${[
    paint('bold', `verdict: ${grade.toUpperCase()}${emulated ? ' on emulated devices' : ''}`) +
      ` (${counts.join(', ') || 'nothing was checked'})`,
    ...wrap(`compared with ${against}`, width),
    ...notes.flatMap((note) => wrap(note, width)),
    ...(shown.length === 0 ? [] : ['']),
    ...shown.flatMap(lineOf),
    ...(differences.length === 0 ? [] : ['', ...differenceLines(differences)]),
  ].join('\n')}\n`;
}

const levels: Record<Grade, number> = { pass: 0, degraded: 1, fail: 2 };

/** A text file for the Prometheus node exporter's textfile collector. */
export function formatMetrics(verdict: Verdict, at: Date): string {
  const items = distinct(verdict.items);
  const lines = [
    '# HELP weft_check_grade Verdict of weft check: 0 pass, 1 degraded, 2 fail.',
    '# TYPE weft_check_grade gauge',
    `weft_check_grade ${levels[verdict.grade]}`,
    ...(verdict.emulated
      ? [
          '# HELP weft_check_emulated 1 if any measured device was emulated; absent otherwise.',
          '# TYPE weft_check_emulated gauge',
          'weft_check_emulated 1',
        ]
      : []),
    '# HELP weft_check_timestamp_seconds When the verdict was given.',
    '# TYPE weft_check_timestamp_seconds gauge',
    `weft_check_timestamp_seconds ${Math.round(at.getTime() / 1000)}`,
    '# HELP weft_check_item_grade Grade of one item: 0 pass, 1 degraded, 2 fail.',
    '# TYPE weft_check_item_grade gauge',
    ...items.map((item) => `weft_check_item_grade{${labelsOf(item)}} ${levels[item.grade]}`),
    ...series('weft_check_item_value', 'Measured value.', items, (item) => item.value),
    ...series('weft_check_item_expected', 'Value that passes.', items, (i) => i.expected),
  ];
  return `${lines.join('\n')}\n`;
}

/** Prometheus refuses two samples with the same labels: of those the worse stays. */
function distinct(items: readonly Item[]): Item[] {
  const byLabels = new Map<string, Item>();
  for (const item of items) {
    const known = byLabels.get(labelsOf(item));
    if (!known || levels[item.grade] > levels[known.grade]) byLabels.set(labelsOf(item), item);
  }
  return [...byLabels.values()];
}

function series(
  name: string,
  help: string,
  items: readonly Item[],
  of: (item: Item) => number | undefined,
): string[] {
  const lines = items.flatMap((item) => {
    const value = of(item);
    return value === undefined ? [] : [`${name}{${labelsOf(item)}} ${value}`];
  });
  return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...lines];
}

function labelsOf({ name, metric }: Item): string {
  const escaped = (text: string) =>
    text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
  const labels = { item: name, ...(metric !== undefined && { metric }) };
  return Object.entries(labels)
    .map(([label, text]) => `${label}="${escaped(text)}"`)
    .join(',');
}
