import { formatBytes, microseconds, plural } from '../../measure/units.js';
import { book } from '../../reference/book.js';
import {
  type Publication,
  type PublishedFigure,
  type Quantity,
  quantities,
} from '../../reference/published.js';
import type { Row, Run } from '../../results/schema.js';

/** A published figure beside a row. */
export interface PlacedFigure {
  readonly quantity: Quantity;
  readonly value: number;
  readonly unit: string;
  /** What the row has of the same; absent where no row has it. */
  readonly measured?: number;
  readonly bytes: number;
  readonly nodes: number;
  readonly ranksPerNode: number;
  readonly library: string;
  readonly source: string;
  readonly url: string;
  readonly read: string;
  readonly conditions: string;
  /** Conditions that are not the same here, a clause each. */
  readonly differs: readonly string[];
  /** How fast the row is in units of the figure; absent where conditions differ or no row has this quantity. */
  readonly speed?: number;
}

/** What a row has of a quantity. */
export const quantityOf: Readonly<Record<Quantity, (row: Row) => number | null | undefined>> = {
  gbps: (row) => row.gbps,
  busbwGBps: (row) => row.busbwGBps,
  meanUs: ({ nanoseconds }) => nanoseconds && microseconds(nanoseconds.mean),
  theirGBps: () => undefined,
};

/** Sizes further apart than this factor are not placed side by side. */
const mostApart = 2;
const apart = (a: number, b: number): number => Math.max(a / b, b / a);

/** The figure nearest to a row in each publication about this machine and benchmark. */
export function figuresBeside(machine: string, run: Run, row: Row): PlacedFigure[] {
  const { bytes } = row;
  if (bytes === null || bytes === 0) return [];
  return book
    .filter((one) => one.machine === machine && one.benchmark === run.benchmark)
    .flatMap((publication) => {
      const own = publication.figures.filter(
        (one) => row.column.startsWith(one.column) && apart(one.bytes, bytes) <= mostApart,
      );
      const [nearest] = own.sort((a, b) => distance(a, run, bytes) - distance(b, run, bytes));
      return nearest === undefined ? [] : [placed(publication, nearest, run, row)];
    });
}

/** The world counts first, then the size. */
function distance(figure: PublishedFigure, { world }: Run, bytes: number): number {
  const nodes = figure.pairwise ? 0 : Math.log2(apart(figure.nodes, world.hosts.length));
  return 1000 * nodes + Math.log2(apart(figure.bytes, bytes));
}

function placed(
  publication: Publication,
  figure: PublishedFigure,
  run: Run,
  row: Row,
): PlacedFigure {
  const { source, library, conditions } = publication;
  const { quantity, value, bytes, nodes, ranksPerNode } = figure;
  const { unit, moreIsBetter } = quantities[quantity];
  const differs = differencesOf(publication, figure, run, row);
  const measured = quantityOf[quantity](row);
  const speed =
    measured == null || differs.length > 0
      ? undefined
      : moreIsBetter
        ? measured / value
        : value / measured;
  return {
    ...{ quantity, value, unit, bytes, nodes, ranksPerNode, library },
    ...{ source: source.name, url: source.url, read: source.read, conditions, differs },
    ...(measured != null && { measured }),
    ...(speed !== undefined && { speed }),
  };
}

function differencesOf(
  { nicsPerRank, library }: Publication,
  figure: PublishedFigure,
  { world, fabric, settings }: Run,
  { bytes, column, labels }: Row,
): string[] {
  const hosts = world.hosts.length;
  const own = (settings.own ?? {}) as Readonly<Record<string, unknown>>;
  const perNode = world.ranks / hosts;
  const said = (what: string, here: string) => `published for ${what}, measured with ${here}`;
  const worlds: [boolean, string, string][] = [
    [figure.bytes !== bytes, formatBytes(figure.bytes), formatBytes(bytes!)],
    [
      !figure.pairwise && figure.nodes !== hosts,
      plural(figure.nodes, 'node'),
      plural(hosts, 'node'),
    ],
    [
      !figure.pairwise && figure.ranksPerNode !== perNode,
      `${plural(figure.ranksPerNode, 'rank')} per node`,
      String(Number(perNode.toFixed(2))),
    ],
    [
      nicsPerRank !== fabric.channels.length,
      `${plural(nicsPerRank, 'NIC')} per rank`,
      String(fabric.channels.length),
    ],
    [
      / EFA$/.test(library) && !/^efa\b/.test(fabric.provider ?? ''),
      'EFA',
      fabric.provider ?? 'no fabric',
    ],
    [
      column.endsWith('DMA') && labels.memory === 'staged',
      'GPU memory',
      'data staged through host memory',
    ],
    ...Object.entries(figure.options ?? {}).map(([key, value]): [boolean, string, string] => [
      key in own && own[key] !== value,
      `${key} ${value}`,
      String(own[key]),
    ]),
  ];
  return worlds.flatMap(([differ, there, here]) => (differ ? [said(there, here)] : []));
}
