import { formatBytes } from '../../measure/units.js';
import { sparkline } from '../../results/formats/bars.js';
import { painter } from '../../results/formats/text.js';
import type { Terminal } from './terminal.js';

export interface Standing {
  readonly title: string;
  readonly index: number;
  readonly total: number;
  readonly column: string;
  readonly bytes: number;
  /** What the last row gave, in words. */
  readonly last: string | undefined;
  /** Rates of this column's rows so far. */
  readonly rates: readonly (number | null)[];
  readonly elapsedMs: number;
  readonly lastRowMs: number;
}

const barWidth = { least: 8, most: 32 };
const sparklineWidth = 24;

/**
 * One line of at most `width` columns without its colours. What matters most is kept longest: the row in work,
 * then the time left, the last rate, the bar, the course of the column.
 */
export function progressLine(standing: Standing, { width, color, unicode }: Terminal): string {
  const { title, index, total, column, bytes, last, rates } = standing;
  const dot = unicode ? ' · ' : ' | ';
  const left = index === 0 ? undefined : timeLeft(standing);
  const row = `${title} ${column} ${formatBytes(bytes)}`;
  const texts = fitting([`${index}/${total} ${row}`, left, last], dot, width);
  let line = [texts[0], texts[2], texts[1]].filter((text) => text !== undefined).join(dot);
  const spare = width - line.length - 1;
  if (spare < barWidth.least) return line.slice(0, width);
  const bar = Math.min(barWidth.most, spare);
  const course = sparkline(rates.slice(-sparklineWidth), unicode);
  const paint = painter(color);
  if (course.length > 1 && spare - bar >= dot.length + course.length) {
    line += dot + paint('cyan', course);
  }
  return `${paint('cyan', shareBar(index / total, bar, unicode))} ${line}`;
}

/** The first text always; each further one if there is room for it. */
function fitting(texts: readonly (string | undefined)[], dot: string, width: number) {
  let used = 0;
  return texts.map((text, i) => {
    if (text === undefined) return undefined;
    const needed = text.length + (i === 0 ? 0 : dot.length);
    if (i > 0 && used + needed > width) return undefined;
    used += needed;
    return text;
  });
}

function shareBar(share: number, width: number, unicode: boolean): string {
  const [full, empty] = unicode ? ['█', '░'] : ['#', '-'];
  const filled = Math.round(share * width);
  return full.repeat(filled) + empty.repeat(width - filled);
}

/** As if the rows to come took as long as those that were, or as the last one: sizes grow. */
function timeLeft({ elapsedMs, lastRowMs, index, total }: Standing): string {
  const seconds = Math.ceil((Math.max(elapsedMs / index, lastRowMs) * (total - index)) / 1000);
  if (seconds < 60) return `${seconds} s left`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s left`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
}
