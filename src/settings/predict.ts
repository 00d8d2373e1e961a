import {
  choice,
  names,
  numberAbove,
  option,
  size,
  sizeAboveZero,
  text,
  type ValueKind,
  wholeNumber,
} from './option.js';

/** The first and the last of some values. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** `A..B`, or `A` alone, of a kind of number. */
const rangeOf = (kind: ValueKind<number>): ValueKind<Range> => ({
  parse: (value) => {
    const [from = '', to = from, ...rest] = value.split('..');
    if (rest.length > 0) throw new Error('It must be a value, or a range such as 2..16.');
    const range = { from: kind.parse(from), to: kind.parse(to) };
    if (range.from > range.to) throw new Error('The range must begin with the smaller value.');
    return range;
  },
  inFile: kind.inFile,
});

const fabric = option({
  flags: '--fabric <name>',
  help: 'p5, lab, or a file from predict fit',
  kind: text,
  default: 'p5',
});

/** What `weft predict BENCH` takes beside the options of the benchmark that shape plans. */
export const predictOptions = {
  fabric,
  nodes: option({
    flags: '--nodes <range>',
    help: 'node count, or A..B, doubling',
    kind: rangeOf(wholeNumber(2, 32_768)),
    default: { from: 4, to: 4 },
    defaultText: '4',
  }),
  ranksPerNode: option({
    flags: '--ranks-per-node <count>',
    help: 'ranks per node, each with its own NICs',
    kind: wholeNumber(1, 64),
    default: 1,
  }),
  nicsPerRank: option({
    flags: '--nics-per-rank <count>',
    help: 'NICs of each rank',
    kind: wholeNumber(1, 64),
    defaultText: 'as in the model',
  }),
  bytes: option({
    flags: '--bytes <range>',
    help: 'size, or A..B, doubling',
    kind: rangeOf(size),
    defaultText: 'the benchmark’s',
  }),
  columns: option({
    flags: '--columns <names>',
    help: 'columns, separated by commas',
    kind: names,
    defaultText: 'all',
  }),
  chunkBytes: option({
    flags: '--chunk <size>',
    help: 'chunk size of transfers',
    kind: sizeAboveZero,
    defaultText: 'as in the model',
  }),
  hostsPerLeaf: option({
    flags: '--hosts-per-leaf <count>',
    help: 'nodes below each leaf switch',
    kind: wholeNumber(1),
  }),
  oversubscription: option({
    flags: '--oversubscription <ratio>',
    help: 'leaf downlink rate over uplink rate',
    kind: numberAbove(0),
    default: 1,
  }),
  switchRouting: option({
    flags: '--switch-routing <mode>',
    help: 'between leaves: spray, ecmp',
    kind: choice(['spray', 'ecmp']),
    default: 'spray',
  }),
  seed: option({
    flags: '--seed <number>',
    help: 'seed of the ecmp hash',
    kind: wholeNumber(0, 2 ** 32 - 1),
    default: 1,
  }),
};

/** What `weft predict fit` takes. */
export const fitOptions = {
  out: option({ flags: '-o, --out <file>', help: 'JSON file to write the model to', kind: text }),
  name: option({
    flags: '--name <name>',
    help: 'name of the model',
    kind: text,
    defaultText: 'name of the first file',
  }),
  nicsPerRank: option({
    flags: '--nics-per-rank <count>',
    help: 'NICs of each rank',
    kind: wholeNumber(1, 64),
    defaultText: 'as in the runs, else 4',
  }),
  lineRateGbps: option({
    flags: '--line-rate <gbps>',
    help: 'Gbps per NIC',
    kind: numberAbove(0),
    defaultText: 'as in the runs, else 100',
  }),
  chunkBytes: option({
    flags: '--chunk <size>',
    help: 'chunk size',
    kind: sizeAboveZero,
    defaultText: 'as in the runs, else 1M',
  }),
  exchangeNodes: option({
    flags: '--exchange-nodes <count>',
    help: 'override the node count of all-to-all rows',
    kind: wholeNumber(2, 32_768),
  }),
};
