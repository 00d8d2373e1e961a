import { groupBy } from '../measure/group.js';
import { fabricName } from '../results/fabric-name.js';
import type { Row, Run } from '../results/schema.js';
import type { Chart, ChartKind, ChartParts } from './chart.js';
import { bandwidth, chartBySize, latency, percent } from './charts/by-size.js';
import { byGrid, messageRates, proxyShare, requestStages } from './charts/gpu-initiated.js';
import { byBuffers, byNodes, configurations } from './charts/of-benchmarks.js';
import { peerBars, rankBars } from './charts/parts.js';
import { requestTimes } from './charts/request-times.js';
import { routedRankBars, routingMaps } from './charts/routing.js';
import { distribution, spreadBoxes } from './charts/samples.js';
import { soakCharts } from './charts/soak.js';
import {
  columnOrder,
  fastestShapes,
  type Line,
  linesBySize,
  linesOf,
  type Models,
  modelLines,
} from './lines.js';
import { reportKindOf } from './report-kinds.js';

/**
 * Every chart that these runs can fill, in the order a reader wants them. Runs of the same benchmark share charts
 * and are told apart in them; ids begin with the benchmark where there are several. Charts by size also show what
 * `models` expect. Pure: the same runs give the same charts.
 */
export function chartsOf(runs: readonly Run[], models: Models = new Map()): Chart[] {
  const groups = groupBy(runs, (run) => run.benchmark);
  const order = columnOrder(runs);
  return [...groups].flatMap(([benchmark, group]) => {
    const prefix = groups.size > 1 ? `${idOf(benchmark)}-` : '';
    // A picture travels without its run.
    const emulated = group.find(({ fabric }) => fabric.emulated)?.fabric;
    const model = group.find((run) => run.model)?.model;
    const suffixes = [
      emulated && `, ${fabricName(emulated)}`,
      model && `, PREDICTED with the model ${model.name}`,
    ];
    const suffix = suffixes.filter(Boolean).join('');
    return chartsOfBenchmark(group, order, models).map(([kind, parts]): Chart => {
      const title = `${parts.title}${suffix}`;
      return { ...parts, id: `${prefix}${parts.id}`, title, kind, benchmark };
    });
  });
}

type Drawn = readonly [ChartKind, ChartParts & { id: string }];

function chartsOfBenchmark(
  runs: readonly Run[],
  order: readonly string[],
  models: Models,
): Drawn[] {
  const all = linesOf(runs, order);
  const lines = fastestShapes(all);
  const nodes = byNodes(lines);
  const withModels = [...lines, ...modelLines(lines, models)];
  const { shown, leftOut } = linesBySize(withModels, nodes !== undefined);
  const many = (kind: ChartKind, list: readonly ChartParts[]): Drawn[] =>
    list.map((parts, i) => [kind, { ...parts, id: i === 0 ? kind : `${kind}-${i + 1}` }]);
  const whole = (kind: ChartKind, parts: ChartParts | undefined): Drawn[] =>
    many(kind, parts === undefined ? [] : [parts]);
  const one = (kind: ChartKind, parts: ChartParts | undefined): Drawn[] =>
    whole(kind, lines.length < all.length ? noting(fastestOnly, parts) : parts);
  const bySize = (kind: ChartKind, parts: ChartParts | undefined): Drawn[] =>
    one(kind, noting(leftOut, parts));
  const times = timeBySize(shown);
  return [
    ...many('soak', runs.flatMap(soakCharts)),
    ...bySize('bandwidth', bandwidthBySize(shown)),
    ...(times ? bySize('latency', times) : one('latency', configurations(lines, 'time'))),
    ...bySize('busbw', busBandwidth(shown)),
    ...bySize('line', lineShare(shown)),
    ...bySize('of-bound', boundShare(shown.filter(({ isModel }) => !isModel))),
    ...one('configurations', several(lines) ? configurations(lines, 'bandwidth') : undefined),
    ...one('nodes', nodes),
    ...one('buffers', byBuffers(lines, 'bandwidth')),
    ...one('buffers-time', byBuffers(lines, 'time')),
    ...one('proxy', proxyShare(lines)),
    ...many('stages', requestStages(lines)),
    ...whole('grid', byGrid(all)),
    ...whole('mops', messageRates(all)),
    ...many('routing', runs.flatMap(routingMaps)),
    ...many('routed-ranks', runs.flatMap(routedRankBars)),
    ...chartsOfKinds(runs, many),
    ...one('peers', peerBars(lines)),
    ...one('ranks', rankBars(lines)),
    ...one('request-times', requestTimes(lines)),
    ...one('spread', spreadBoxes(lines)),
    ...one('distribution', distribution(lines)),
  ];
}

/** Each kind of chart of all runs together, numbered as one list. */
function chartsOfKinds(
  runs: readonly Run[],
  many: (kind: ChartKind, list: readonly ChartParts[]) => Drawn[],
): Drawn[] {
  const all = runs.flatMap((run) => reportKindOf(run).charts?.(run) ?? []);
  return [...groupBy(all, ([kind]) => kind)].flatMap(([kind, lists]) => {
    const parts = lists.flatMap(([, list]) => list);
    return many(kind, parts);
  });
}

const fastestOnly =
  'Each kernel is shown with the shape that is fastest at the largest size; the table lists all shapes.';

const noting = (note: string | undefined, parts: ChartParts | undefined): ChartParts | undefined =>
  parts && note ? { ...parts, caption: `${parts.caption} ${note}` } : parts;

/** Whether bars beside each other say more than a line over the size. */
function several(lines: readonly Line[]): boolean {
  const sizes = new Set(lines.flatMap(({ rows }) => rows.map((row) => row.bytes)));
  return sizes.size === 1 || new Set(lines.map((line) => line.column)).size > 1;
}

const idOf = (benchmark: string): string =>
  benchmark
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '') || 'run';

const perPeerOnly = (lines: readonly Line[]): boolean =>
  anyRow(lines, ({ gbps, lineGbps }) => !same(gbps, lineGbps));

const anyRow = (lines: readonly Line[], test: (row: Row) => boolean): boolean =>
  lines.some(({ rows }) => rows.some(test));

const same = (a: number | null, b: number | null): boolean =>
  a === b || (a !== null && b !== null && Math.abs(a - b) < 1e-6 * Math.abs(b));

const bandCaption = (lines: readonly Line[]): string =>
  lines.some(({ run, isModel }) => run.model && !isModel)
    ? 'Predicted times, not measured; the bands are the 95 % intervals of the model.'
    : 'Means; the bands cover 90 % of the iterations.';

function bandwidthBySize(lines: readonly Line[]): ChartParts | undefined {
  const perPeer = perPeerOnly(lines);
  const rates = lineRates(lines);
  const most = Math.max(0, ...lines.flatMap(({ rows }) => rows.map((row) => row.gbps ?? 0)));
  // A line rate far above would flatten the lines that matter, and no single peer gets it in an all-to-all.
  const near = perPeer ? [] : rates.filter((rate) => rate <= 2.5 * most);
  return chartBySize(lines, {
    title: perPeer ? 'Bandwidth per peer by size' : 'Bandwidth by size',
    caption: bandCaption(lines),
    measure: bandwidth,
    levels: near.map((rate) => ({
      value: rate,
      text: `line rate ${Number(rate.toPrecision(4))} Gbps`,
    })),
  });
}

/** Of the channels that configurations may use, as their rows imply. */
function lineRates(lines: readonly Line[]): number[] {
  const rates = lines.flatMap(({ rows }) =>
    rows.flatMap(({ gbps, busbwPercent, peakGbps }: Row) =>
      gbps === null || !busbwPercent || peakGbps !== undefined
        ? []
        : [Number(((gbps / busbwPercent) * 100).toPrecision(6))],
    ),
  );
  return [...new Set(rates)].sort((a, b) => a - b).slice(0, 3);
}

function timeBySize(lines: readonly Line[]): ChartParts | undefined {
  const roundTrip = anyRow(lines, (row) => row.halfRoundTripNanoseconds !== undefined);
  return chartBySize(lines, {
    title: roundTrip ? 'Round-trip time by size' : 'Latency by size',
    caption: bandCaption(lines),
    measure: roundTrip
      ? { ...latency, axis: { ...latency.axis, name: 'round-trip time' } }
      : latency,
  });
}

function busBandwidth(lines: readonly Line[]): ChartParts | undefined {
  const ofPath = anyRow(lines, (row) => row.peakGbps !== undefined);
  return chartBySize(lines, {
    title: ofPath ? 'Share of the path’s peak by size' : 'BusBW by size',
    caption: ofPath
      ? 'Bandwidth as a share of the peak of the path between the two memories.'
      : 'Bandwidth as a share of the line rate of the channels that a configuration may use.',
    measure: percent(ofPath ? 'of the peak' : 'BusBW', (row) => row.busbwPercent),
  });
}

/** What one rank put on the wire, where that is not the figure itself. */
function lineShare(lines: readonly Line[]): ChartParts | undefined {
  if (!perPeerOnly(lines)) return undefined;
  const rated = anyRow(lines, (row) => row.linePercent !== null);
  return chartBySize(lines, {
    title: rated ? 'Share of the line rate by size' : 'Bandwidth sent by one rank, by size',
    caption: rated
      ? 'What one rank sends to all its peers, as a share of the line rate of its channels.'
      : 'What one rank sends to all its peers together. The line rate is unknown.',
    measure: rated
      ? percent('of the line rate', (row) => row.linePercent)
      : { axis: { name: 'sent by one rank', text: 'gbps' }, value: (row) => row.lineGbps },
  });
}

const boundShare = (lines: readonly Line[]): ChartParts | undefined =>
  chartBySize(lines, {
    title: 'Share of the best possible by size',
    caption:
      'The best possible time (bound) of this plan, from its bytes and the line rates, over the measured time. Rows marked burst may exceed 100 %.',
    measure: percent('of the bound', (row) => row.ofBoundPercent),
    levels: [{ value: 100, text: 'bound' }],
  });
