import { groupBy } from '../measure/group.js';
import { gbpsOf } from '../measure/units.js';
import { roundRobin } from '../plan/strategies.js';
import { type Figure, readFigures } from './csv.js';
import { p5ExchangeNodes, p5Rows } from './p5-rows.js';
import type { Publication, PublishedFigure } from './published.js';

const source = {
  name: 'Libefaxx, result tables for p5.48xlarge',
  url: 'https://github.com/crazyguitar/Libefaxx',
  read: '2026-11',
};

const common = 'One rank per node with the four EFA devices of one GPU, chunks of 1 MiB.';
const conditions: Readonly<Record<string, string>> = {
  all2all: `${common} The tables are labelled 4 nodes and their text says 8; only 8 fits them.`,
};

/** Their names of columns, as Weft has them. */
const columnNames: Readonly<Record<string, string>> = { Host: 'SinglePin', Device: 'SingleDMA' };
export const columnOf = ({ column }: Figure): string => columnNames[column] ?? column;

export const libefaxxFigures = readFigures(p5Rows, 'p5');

export const libefaxx: readonly Publication[] = [
  ...groupBy(libefaxxFigures, ({ benchmark }) => benchmark),
].map(([benchmark, figures]) => ({
  source,
  machine: 'p5.48xlarge',
  benchmark,
  library: 'libfabric over EFA',
  nicsPerRank: 4,
  conditions: conditions[benchmark] ?? common,
  figures: figures.map(published),
}));

function published(figure: Figure): PublishedFigure {
  const { benchmark, bytes, nanoseconds } = figure;
  const column = columnOf(figure);
  const exchange = benchmark === 'all2all';
  const nodes = exchange ? p5ExchangeNodes : figure.nodes;
  const spread = !exchange && column.startsWith(roundRobin.title);
  const targets = spread ? nodes - 1 : 1;
  return {
    column,
    bytes,
    nodes,
    ranksPerNode: figure.ranksPerNode,
    ...(!exchange && !spread && { pairwise: true }),
    quantity: 'gbps',
    value: gbpsOf(targets * bytes, nanoseconds),
  };
}
