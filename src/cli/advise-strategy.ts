import { formatBytes, formatNanoseconds, gbpsOf, plural, sizeText } from '../measure/units.js';
import type { Strategy } from '../plan/strategies.js';
import { alignedTable } from '../results/formats/plain-table.js';
import { wrap } from '../results/formats/text.js';
import {
  type Advice,
  advise,
  type Flip,
  mapBuffers,
  mapSizes,
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
    flipLines(advice.flips, bytes, buffers).flatMap((line) => wrap(line, width)),
    mapLines(advice),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function flipLines(flips: readonly Flip[], bytes: number, buffers: number): string[] {
  const told = (over: Flip['over'], fixed: string, text: (value: number) => string) => {
    const own = flips.filter((flip) => flip.over === over);
    const parts = own.map(({ from, to }) => `${nameOf(to)} from ${text(from)} up`);
    return `With ${fixed}: ${parts.join(', ') || 'the same strategy is always the fastest'}.`;
  };
  return [
    told('bytes', plural(buffers, 'buffer'), sizeText),
    told('buffers', `buffers of ${sizeText(bytes)}`, (count) => plural(count, 'buffer')),
  ];
}

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
  const { best, times, reason, flips, map } = advice;
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
    flips: flips.map(({ over, from, to }) => ({ over, from, to: nameOf(to) })),
    map: { bytes: mapSizes, buffers: mapBuffers, best: map.map((line) => line.map(nameOf)) },
  };
  return `${JSON.stringify(record, null, 2)}\n`;
}
