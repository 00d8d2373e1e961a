/** A drawing as plain JSON: `hydrate` makes an ECharts option of `option`. */
export interface Chart {
  /** Names it on command lines and in addresses; unique among the charts of one call. */
  readonly id: string;
  readonly kind: ChartKind;
  readonly benchmark: string;
  readonly title: string;
  /** What is drawn and how to read it. */
  readonly caption: string;
  /** What a reader who does not see the drawing should know: its finding. */
  readonly summary: string;
  readonly heightPx: number;
  readonly option: ChartOption;
}

/** Every kind of chart by its topic, in the order a reader asks for them. */
export const topics = [
  { id: 'soak', title: 'Over time', kinds: ['soak'] },
  { id: 'speed', title: 'Bandwidth and latency', kinds: ['bandwidth', 'latency', 'mops'] },
  {
    id: 'line',
    title: 'Share of the line rate and of the best possible',
    kinds: ['busbw', 'line', 'of-bound'],
  },
  {
    id: 'configurations',
    title: 'Configurations and scale',
    kinds: ['configurations', 'nodes', 'buffers', 'buffers-time', 'proxy', 'stages', 'grid'],
  },
  { id: 'pairs', title: 'Pairs', kinds: ['pairs', 'pair-times'] },
  { id: 'routing', title: 'Routing', kinds: ['routing', 'routed-ranks'] },
  { id: 'parts', title: 'Ranks, peers and rails', kinds: ['rails', 'peers', 'ranks'] },
  { id: 'samples', title: 'Samples', kinds: ['request-times', 'spread', 'distribution'] },
  { id: 'history', title: 'History', kinds: ['history'] },
] as const;
/** What a chart shows. */
export type ChartKind = (typeof topics)[number]['kinds'][number];

/** An option of ECharts as plain JSON, with words in place of colours and functions. */
export type ChartOption = Readonly<Record<string, unknown>>;

/** What each kind of chart is made from: the runs of one benchmark. */
export type ChartParts = Omit<Chart, 'id' | 'benchmark' | 'kind'>;

export const plotHeightPx = 380;

/** Enough for any screen, and a third of the bytes of full precision. */
export const rounded = (value: number): number => Number(value.toPrecision(5));
