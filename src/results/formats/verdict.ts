import type { Grade, Item, Verdict } from '../../analysis/verdict/verdict.js';
import { differenceLines } from './differences.js';
import { expositionText, inUnixSeconds } from './exposition.js';
import { normalLines } from './normal.js';
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
  const { grade, items, against, notes, emulated, normal, differences = [] } = verdict;
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
    ...(normal === undefined ? [] : ['', ...normalLines(normal, width)]),
  ].join('\n')}\n`;
}

const levels: Record<Grade, number> = { pass: 0, degraded: 1, fail: 2 };

/** A text file for the Prometheus node exporter's textfile collector. */
export function formatMetrics({ grade, emulated, items }: Verdict, at: Date): string {
  // Of items with the same labels the worse stays.
  const ordered = [...items].sort((a, b) => levels[a.grade] - levels[b.grade]);
  const samples = (value: (item: Item) => number | undefined) =>
    ordered.map((item) => ({
      labels: { item: item.name, metric: item.metric },
      value: value(item),
    }));
  return expositionText([
    {
      name: 'weft_check_grade',
      help: 'Verdict of weft check: 0 pass, 1 degraded, 2 fail.',
      samples: [{ value: levels[grade] }],
    },
    {
      name: 'weft_check_emulated',
      help: '1 if any measured device was emulated; absent otherwise.',
      samples: emulated ? [{ value: 1 }] : [],
    },
    {
      name: 'weft_check_timestamp_seconds',
      help: 'When the verdict was given.',
      samples: [{ value: inUnixSeconds(at) }],
    },
    {
      name: 'weft_check_item_grade',
      help: 'Grade of one item: 0 pass, 1 degraded, 2 fail.',
      samples: samples((item) => levels[item.grade]),
    },
    {
      name: 'weft_check_item_value',
      help: 'Measured value.',
      samples: samples(({ value }) => value),
    },
    {
      name: 'weft_check_item_expected',
      help: 'Value that passes.',
      samples: samples(({ expected }) => expected),
    },
  ]);
}
