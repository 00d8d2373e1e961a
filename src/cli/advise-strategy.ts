import { groupBy } from '../measure/group.js';
import {
  formatBytes,
  formatBytesRounded,
  formatNanoseconds,
  gbpsOf,
  plural,
  sizeText,
} from '../measure/units.js';
import type { Strategy } from '../plan/strategies.js';
import { alignedTable } from '../results/formats/plain-table.js';
import { wrap } from '../results/formats/text.js';
import {
  type Advice,
  advise,
  mapBuffers,
  mapSizes,
  type Span,
  type WriteQuestion,
} from '../runner/predict/advise.js';

/** How to spread buffers over NICs, from a model of a fabric. */
export function answer(question: WriteQuestion, format: 'table' | 'json', width: number): string {
  const advice = advise(question);
  return format === 'json' ? jsonOf(advice, question) : textOf(advice, question, width);
}

/** As users read strategies. */
const names: Record<Strategy['id'], string> = {
  single: 'single',
  multi: 'split',
  roundRobin: 'round-robin',
};
const nameOf = ({ id }: Strategy): string => names[id];

function textOf(
  advice: Advice,
  { fabric, bytes, buffers, memory }: WriteQuestion,
  width: number,
): string {
  const title = `Use ${nameOf(advice.best)} for ${plural(buffers, 'buffer')} of ${sizeText(bytes)} in ${memory.id} memory (PREDICTED with the model ${fabric.name}, not measured)`;
  const times = alignedTable({
    heads: ['strategy', 'predicted', 'Gbps'],
    lines: advice.times.map(({ strategy, nanoseconds }) => [
      nameOf(strategy),
      formatNanoseconds(nanoseconds),
      gbpsOf(bytes * buffers, nanoseconds).toFixed(1),
    ]),
    left: [0],
  });
  const sections = [
    wrap(title, width),
    wrap(advice.reason, width),
    times,
    spanLines(advice.spans, bytes, buffers).flatMap((line) => wrap(line, width)),
    mapLines(advice),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function spanLines(spans: readonly Span[], bytes: number, buffers: number): string[] {
  const [sizes, counts] = (['bytes', 'buffers'] as const).map((over) =>
    spans.filter((span) => span.over === over),
  ) as [Span[], Span[]];
  return [
    `With ${plural(buffers, 'buffer')}: ${sizeWords(sizes)}.`,
    `With buffers of ${sizeText(bytes)}: ${countWords(counts)}.`,
  ];
}

/** Between the end of one span and the start of the next lies the change: `single up to 26.3K, split from 26.7K up`. */
const sizeWords = (spans: readonly Span[]): string =>
  spans
    .map(({ from, to, best }, i) => {
      const [first, last] = [i === 0, i === spans.length - 1];
      const [low, high] = [from, to].map(formatBytesRounded);
      if (first && last) return `${nameOf(best)} at every size`;
      const where = last ? `from ${low} up` : first ? `up to ${high}` : `from ${low} to ${high}`;
      return `${nameOf(best)} ${where}`;
    })
    .join(', ');

/** Every strategy with its counts: `split for 1 to 3 and 5 buffers`. */
const countWords = (spans: readonly Span[]): string =>
  [...groupBy(spans, ({ best }) => nameOf(best))]
    .map(([name, own]) => {
      const ranges = own.map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`));
      const most = own.at(-1)!.to;
      return `${name} for ${listed(ranges)} ${most === 1 ? 'buffer' : 'buffers'}`;
    })
    .join('; ');

const listed = (items: readonly string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;

const mapLines = ({ map }: Advice): string[] => [
  'Fastest strategy by buffer size and number of buffers (robin: round-robin):',
  ...alignedTable({
    heads: ['', ...mapBuffers.map(String)],
    lines: map.map((line, i) => [
      formatBytes(mapSizes[i]!),
      ...line.map((best) => nameOf(best).replace('round-', '')),
    ]),
  }),
];

function jsonOf(advice: Advice, { fabric, bytes, buffers, memory }: WriteQuestion): string {
  const { best, times, reason, spans, map } = advice;
  const record = {
    schema: 'weft.advice/1',
    model: { name: fabric.name, source: fabric.source, parameters: fabric.parameters },
    bytes,
    buffers,
    memory: memory.id,
    best: nameOf(best),
    reason,
    strategies: times.map(({ strategy, nanoseconds }) => ({
      strategy: nameOf(strategy),
      nanoseconds,
      gbps: gbpsOf(bytes * buffers, nanoseconds),
    })),
    flips: flipsOf(spans),
    map: { bytes: mapSizes, buffers: mapBuffers, best: map.map((line) => line.map(nameOf)) },
  };
  return `${JSON.stringify(record, null, 2)}\n`;
}

/** Where the answer changes: it is another one at `from` than at `after`. */
const flipsOf = (spans: readonly Span[]) =>
  spans.flatMap(({ over, from, best }, i) => {
    const before = spans[i - 1];
    const changes = before?.over === over && before.best !== best;
    return changes ? [{ over, after: before.to, from, to: nameOf(best) }] : [];
  });
