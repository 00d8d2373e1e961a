import {
  type Difference,
  differencesOf,
  oddText,
  usualText,
} from '../analysis/hosts/differences.js';
import { plural } from '../measure/units.js';
import { fabricName } from '../results/fabric-name.js';
import { factKeys, factTitles } from '../results/host-facts.js';
import type { Run } from '../results/schema.js';
import type { Fact } from './settings.js';

/** What one iteration is and what its clock encloses, per benchmark. */
const clocks: Readonly<Record<string, string>> = {
  sendrecv:
    'One iteration: rank 0 sends, the peer receives and sends back, rank 0 receives. Rank 0 times the round trip; the size counts once, so a perfect link shows 50 % BusBW.',
  write:
    'One iteration: rank 0 writes to one target (Single, Multi) or to all at once (RoundRobin, or with several buffers). Rank 0 times it from before the first post until the targets have all bytes.',
  all2all:
    'One iteration: every rank writes to every other rank and waits for what the others write to it. Each rank uses its own clock; a sample is the time of the slowest rank. Bandwidth is per peer; “line” is what one rank sends in total.',
  moe: 'One iteration: every rank sends its tokens once to each other rank that hosts one of their experts (Dispatch), returns one vector for each token that arrived and adds up the vectors that it gets back (Combine), or one after the other (Both). Each rank uses its own clock; a sample is the time of the slowest rank. Bandwidth is what a rank sends, on average.',
  pairs:
    'One iteration: one rank of a pair writes to the other. The writer times it until the target has all bytes.',
  proxy:
    'One iteration: a batch of writes, initiated by the CPU (Single, Multi) or requested by a GPU kernel through a proxy thread. Blocking waits after each request, NBI once after all of them.',
  queue:
    'One iteration: messages pass through the queue between GPU and CPU. They count when the consumer takes them out.',
  'all-to-all-single':
    'One iteration: one exchange between two barriers of the backend. Each rank uses its own clock; a sample is the time of the slowest rank. The block that a rank keeps counts too.',
  allgather:
    'One iteration: every rank gets the blocks of all others; its own stays where it is. Each rank uses its own clock; a sample is the time of the slowest rank. The size is that of all blocks together.',
  'reduce-scatter':
    'One iteration: the buffers of all ranks are added up, and each rank gets its share of the sums. Each rank uses its own clock; a sample is the time of the slowest rank. The size is that of one rank’s buffer.',
  allreduce:
    'One iteration: the buffers of all ranks are added up, and every rank gets all sums. Each rank uses its own clock; a sample is the time of the slowest rank. The size is that of one rank’s buffer.',
  broadcast:
    'One iteration: one rank’s buffer reaches all other ranks. Each rank uses its own clock; a sample is the time of the slowest rank.',
  incast:
    'One iteration: every sender writes the size to the receiver, which waits for all of them. The receiver times it. Bandwidth is what the receiver gets from all senders.',
  permute:
    'One iteration: every rank writes to one other rank, by a random permutation. Each rank uses its own clock; a sample is the time of the slowest rank, and the row is the mean over permutations.',
  bisect:
    'One iteration: each rank of one half and its partner in the other half write to each other. Each rank uses its own clock; a sample is the time of the slowest rank. Bandwidth is per rank and direction.',
  ring: 'One iteration: every rank writes to its neighbour, or to both neighbours. Each rank uses its own clock; a sample is the time of the slowest rank. Bandwidth is per neighbour.',
  bidir:
    'One iteration: rank 0 and one peer write to each other. Rank 0 times it. Bandwidth is the sum of both directions, so a perfect link shows 200 % BusBW.',
  rate: 'One iteration: rank 0 writes many small messages to one peer. Rank 0 times it until the peer has all of them. The size is that of one message.',
  victim:
    'One iteration: round trips of one pair while the other ranks load the fabric, then of the pair alone. Rank 0 times each round trip; only those under load count.',
  traffic:
    'One iteration: the transfers of a file. Each rank uses its own clock; a sample is the time of the slowest rank. Bandwidth is that of the rank that sends or receives most; the size is the sum of all transfers.',
  kv: 'One iteration: decode ranks ask prefill ranks for the pages of their requests (Push) or read them (Pull). Each rank uses its own clock; a sample is the time of the slowest rank. The time to the last page is measured on the decode rank. The size is that of one page.',
  ipc: 'One iteration: a kernel writes the whole buffer into the memory of a neighbouring GPU and makes it visible to the system.',
};

const figures =
  'Figures are means over all iterations. Gbps is 1e9 bits per second of payload; sizes are bytes per peer unless stated above, with K, M and G as powers of two. BusBW is bandwidth over the line rate of the channels a configuration may use. The bound is the best possible time of a plan, from its bytes and the line rates; “of bound” is the bound over the measured time.';
const doubt =
  'A row is noisy (~) if the middle half of its samples spans more than a quarter of their median, or if slow samples move the mean more than a tenth away from it, and a second measurement was noisy too. Rows marked burst (*) carry too little data for a rate limit to take effect.';
const checks =
  'Untimed iterations before and after the timed ones carry a fresh pattern, and the target compares every byte. The clock does not include opening, registration, connecting, warm-up or verification.';

const predicted =
  'Nothing was measured. Weft ran the plans of the benchmark in a model of a fabric; a predicted time is that of one iteration as described above. The 95 % intervals follow from how well the model’s parameters are known and how far measured rows are from the model. docs/model.md has the equations, and what the model does not cover.';

/** The paragraphs of “How it was measured”, for the benchmarks of these runs. */
export function measuredText(runs: readonly Run[]): string[] {
  const named = [...new Set(runs.map((run) => run.benchmark))];
  const enclosed = named.flatMap((name) => (clocks[name] ? [`${name}. ${clocks[name]}`] : []));
  if (runs.every((run) => run.model)) return [...enclosed, predicted];
  return [...enclosed, figures, doubt, checks];
}

/** What stands in the place of a machine: the model, its source and its parameters. */
export const modelFacts = ({ name, source, parameters }: NonNullable<Run['model']>): Fact[] => [
  ['Model', name],
  ['Source', source],
  ...Object.entries(parameters).map(([key, value]): Fact => [key, String(value)]),
];

export function machineOf({ world, fabric, startedAt, endedAt }: Run): Fact[] {
  const rates = fabric.channels.map(({ nic, lineRateGbps }) => {
    const rate = lineRateGbps === null ? 'line rate unknown' : `${lineRateGbps} Gbps`;
    return `${nic ?? 'no NIC'} (${rate})`;
  });
  return [
    ['Ranks', `${world.ranks} on ${plural(world.hosts.length, 'host')}`],
    ['Hosts', world.hosts.join(', ') || 'not recorded'],
    ['Launcher', world.launcher],
    ['Provider', fabricName(fabric) ?? 'none'],
    [
      'Library',
      [fabric.library, fabric.version].filter((part) => part !== null).join(' ') || 'none',
    ],
    ['Channels', rates.join(', ') || 'none'],
    ...hostFacts(world),
    ['Started', timeText(startedAt)],
    ['Ended', endedAt === null ? 'did not finish' : timeText(endedAt)],
  ];
}

/** What should be equal on every host, with the odd ones. */
function hostFacts(world: Run['world']): Fact[] {
  const differences = new Map(differencesOf(world).map((one) => [one.fact, one]));
  return factKeys.flatMap((key): Fact[] => {
    const fact = world.facts?.[key];
    const difference = differences.get(key);
    if (difference) return [[factTitles[key], differenceText(difference)]];
    return typeof fact === 'string' ? [[factTitles[key], fact]] : [];
  });
}

const differenceText = (difference: Difference): string =>
  [usualText(difference), oddText(difference)].filter(Boolean).join('; ');

const timeText = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`;
