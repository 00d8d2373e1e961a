import { formatBytes } from '../measure/units.js';
import type { Run } from '../results/schema.js';

/** What one iteration is and what its clock encloses, in a sentence per benchmark. */
const clocks: Readonly<Record<string, string>> = {
  sendrecv:
    'One iteration: rank 0 sends, the peer receives and sends back, rank 0 receives. The time is rank 0’s, there and back; the size counts once, so a perfect link shows BusBW 50 %.',
  write:
    'One iteration: rank 0 writes to one target (Single, Multi) or to all at once (RoundRobin, or with --buffers). The time is rank 0’s, from before the first post until the targets have all bytes.',
  all2all:
    'One iteration: every rank writes to every other and waits for what the others write to it. A sample is the slowest rank’s; each rank uses its own clock. Bandwidth is per peer; “line” is what one rank sent in all.',
  pairs:
    'One iteration: one rank of a pair writes to the other. The time is the writer’s, until the target has all bytes.',
  proxy:
    'One iteration: a batch of writes, begun by the CPU (Single, Multi) or asked for by a GPU kernel through a proxy thread: Blocking waits after each request, NBI once after all of them.',
  queue:
    'One iteration: messages through the queue between GPU and CPU, counted when they are taken out.',
  'all-to-all-single':
    'One iteration: one exchange, between two barriers of the backend’s own. Each rank times it on its own clock and a sample is the slowest rank’s. The block that a rank keeps for itself counts.',
  ipc: 'One iteration: a kernel writes the whole buffer into the memory of a neighbouring GPU and makes it visible to the system.',
};

const figures =
  'Means over all iterations are shown; Gbps is 1e9 bits per second of payload, sizes are bytes per peer with K, M and G as powers of two. BusBW is bandwidth over the rate of the channels a configuration may use. The bound is the best time that bytes and line rates alone allow the plan; “of bound” is that over the measured time.';
const doubt =
  'A row is noisy (~) when the middle half of its samples spreads over more than a quarter of their median, or slow ones pull the mean more than a tenth from it, and measuring again did not help. Rows marked burst (*) are too small for a shaped link to show its rate.';
const checks =
  'Untimed iterations before and after the timed ones carry a fresh pattern, and every byte of it is compared at the target. What is not in the clock: opening, registering, connecting, warm-up and verification.';

/** The paragraphs of “How it was measured”, for the benchmarks of these runs. */
export function measuredText(runs: readonly Run[]): string[] {
  const named = [...new Set(runs.map((run) => run.benchmark))];
  const enclosed = named.flatMap((name) => (clocks[name] ? [`${name}. ${clocks[name]}`] : []));
  return [...enclosed, figures, doubt, checks];
}

type Fact = readonly [string, string];

const settingNames: Readonly<Record<string, string>> = {
  budgetMs: 'Budget of a row (ms)',
  warmup: 'Warm-up iterations',
  iters: 'Iterations asked for',
  iterations: 'Iterations asked for',
  minBytes: 'Smallest size',
  maxBytes: 'Largest size',
  stepFactor: 'Step factor',
  stepBytes: 'Step',
  chunkBytes: 'Chunk',
  window: 'Chunks in flight per channel',
  windowReduced: 'Window reduced by the provider',
  lineRateGbps: 'Line rate given (Gbps)',
  timeoutMs: 'Deadline (ms)',
  check: 'Verification',
  buffers: 'Independent buffers',
  repeats: 'Repeats of the whole measurement',
  columns: 'Columns asked for',
  pattern: 'Pattern',
  pin: 'Pinning of ranks',
  authenticated: 'Ranks authenticated',
};

/** The options that shaped a run, by their names. */
export function settingsOf({ settings }: Run): Fact[] {
  return Object.entries(settings)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => [settingNames[key] ?? key, settingText(key, value)]);
}

function settingText(key: string, value: unknown): string {
  if (key.endsWith('Bytes') && typeof value === 'number') return formatBytes(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(String).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Where a run took place. */
export function machineOf({ world, fabric, startedAt, endedAt }: Run): Fact[] {
  const rates = fabric.channels.map(({ nic, lineRateGbps }) => {
    const rate = lineRateGbps === null ? 'line rate not known' : `${lineRateGbps} Gbps`;
    return `${nic ?? 'no NIC'} (${rate})`;
  });
  return [
    ['Ranks', `${world.ranks} on ${world.hosts.length} host${world.hosts.length === 1 ? '' : 's'}`],
    ['Hosts', world.hosts.join(', ') || 'not recorded'],
    ['Started by', world.launcher],
    ['Provider', fabric.provider ?? 'none'],
    [
      'Library',
      [fabric.library, fabric.version].filter((part) => part !== null).join(' ') || 'none',
    ],
    ['Channels', rates.join(', ') || 'none'],
    ['Began', timeText(startedAt)],
    ['Ended', endedAt === null ? 'it never came to its end' : timeText(endedAt)],
  ];
}

const timeText = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`;
