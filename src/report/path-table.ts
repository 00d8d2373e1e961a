import { groupBy } from '../measure/group.js';
import { formatDecimalBytes, plural } from '../measure/units.js';
import type { NicTraffic } from '../results/path.js';
import { nameOfRow } from '../results/row-name.js';
import type { Row, Run } from '../results/schema.js';
import { type Cell, htmlTable } from './html-table.js';

interface Line {
  readonly rows: string;
  readonly nic: NicTraffic;
  readonly astray: boolean;
}

const heads = [
  ...['Rows', 'Host', 'NIC', 'Sent', 'Planned', 'Received', 'Planned', 'RDMA writes', 'Planned'],
  ...['Retransmitted', 'Dropped'],
];
const words = 3;

/**
 * Bytes per NIC against the plan: rows that were not as planned one by one, the others as one sum for each NIC. Empty
 * where no row has counters.
 */
export function pathTable(run: Run): string {
  const astray = run.rows.filter((row) => row.path?.asPlanned === false);
  const sums = sumsOf(run.rows.filter((row) => row.path?.asPlanned !== false));
  const lines = [
    ...astray.flatMap((row) =>
      row.path!.nics.map((nic): Line => ({ rows: nameOfRow(row), nic, astray: true })),
    ),
    ...sums,
  ];
  if (lines.length === 0) return '';
  const texts = lines.map(cellsOf);
  const used = heads.map((_, i) => i).filter((i) => texts.some((cells) => cells[i] !== ''));
  const cell = (text: string, i: number, state = ''): Cell => ({
    text,
    classes: [i < words ? 'text' : '', state].filter(Boolean).join(' '),
  });
  return htmlTable({
    caption: 'Bytes per NIC against the plan',
    heads: [used.map((i) => cell(heads[i]!, i))],
    rows: lines.map(({ astray: bad }, line) =>
      used.map((i) => cell(texts[line]![i]!, i, bad && i === 0 ? 'failed' : '')),
    ),
  });
}

function sumsOf(rows: readonly Row[]): Line[] {
  const entries = rows.flatMap(({ path }) => path?.nics ?? []);
  const counted = rows.filter(({ path }) => path !== undefined && path.nics.length > 0).length;
  return [...groupBy(entries, ({ host, nic }) => JSON.stringify([host, nic])).values()].map(
    (group): Line => ({
      rows: plural(counted, 'row'),
      nic: group.reduce(added),
      astray: false,
    }),
  );
}

function added(a: NicTraffic, b: NicTraffic): NicTraffic {
  const sum = (key: keyof NicTraffic) =>
    a[key] === undefined && b[key] === undefined
      ? {}
      : { [key]: ((a[key] as number) ?? 0) + ((b[key] as number) ?? 0) };
  return {
    ...a,
    txBytes: a.txBytes + b.txBytes,
    rxBytes: a.rxBytes + b.rxBytes,
    expectedTxBytes: a.expectedTxBytes + b.expectedTxBytes,
    ...sum('expectedRxBytes'),
    ...sum('rdmaWriteBytes'),
    ...sum('expectedRdmaWriteBytes'),
    ...sum('retransmits'),
    ...sum('drops'),
  };
}

function cellsOf({ rows, nic }: Line): string[] {
  const bytes = (value: number | undefined) =>
    value === undefined ? '' : formatDecimalBytes(value);
  return [
    rows,
    nic.host,
    nic.nic,
    bytes(nic.txBytes),
    bytes(nic.expectedTxBytes),
    bytes(nic.rxBytes),
    bytes(nic.expectedRxBytes),
    bytes(nic.rdmaWriteBytes),
    bytes(nic.expectedRdmaWriteBytes),
    nic.retransmits?.toString() ?? '',
    nic.drops?.toString() ?? '',
  ];
}
