// The section "Workloads" of docs/lab-results.md: incast, moe and kv beside their bounds, then kv with and without
// coalescing, permute, bisect and victim.
import { formatBytes } from '../dist/measure/units.js';

const few = ['-n', '3', '-w', '1'];
const multi = ['--columns', 'MultiPin'];
const fourMiB = ['-b', '4M', '-e', '4M'];
const requests = ['--requests', '16'];
const pushAndPull = ['--columns', 'PushMultiPin,PullMultiPin,PushRoundRobinPin'];
const loads = ['incast', 'permute', 'all2all'];

/**
 * Prints the whole section. `measure` gives the rows of a command, medians of `rounds`; `judge` and `show` print lines
 * of the table that `judgement` begins.
 */
export async function workloads(out) {
  const { print, judgement, rounds } = out;
  print('## Workloads\n');
  print(
    '4 hosts × 4 NICs of 100mbit, `moe` with zipf:1.2 and 512 tokens per rank, `kv` with 16 requests. ' +
      `Medians of ${rounds} rounds (\`npm run bench:lab -- --parts workloads\`).\n`,
  );
  judgement();
  await incast(out);
  const shares = await moe(out);
  const coalesced = await kv(out);
  print();
  kvNote(out);
  bothNote(out, shares);
  await coalescing(out, coalesced);
  await otherPatterns(out);
  await victims(out);
}

async function incast({ measure, judge }) {
  const [row] = await measure('incast', ...fourMiB, '-n', '10', '-w', '1', ...multi);
  judge("incast, of the receiver's line", row.busbwPercent, 95);
  judge('incast, slowest sender relative to the mean', row.fairness, 90);
}

async function moe({ measure, judge, show }) {
  const words = ['moe', '--routing', 'zipf:1.2', '--tokens', '512', ...few, '--columns'];
  const rows = await measure(...words, 'DispatchMultiPin,CombineMultiPin,BothMultiPin');
  const [dispatch, combine, both] = rows;
  for (const { column, ofBoundPercent } of [dispatch, combine]) {
    judge(`moe ${column}, of its bound`, ofBoundPercent, 90);
  }
  // What comes back must have gone out first: the bound of Both lets iterations overlap, which these do not, and with
  // --overlap only the micro-batches within one do.
  show('moe BothMultiPin, of its bound', both.ofBoundPercent);
  for (const batches of ['2', '4']) {
    const flags = ['--overlap', '--micro-batches', batches];
    const [row] = await measure(...words, 'BothMultiPin', ...flags);
    show(`moe BothMultiPin \`${flags.join(' ')}\`, of its bound`, row.ofBoundPercent);
  }
  return { dispatch, combine, both };
}

/** Gives the rows whose pages are pushed over all NICs with coalescing. */
async function kv({ measure, judge, show }) {
  const sizes = ['-b', '16K', '-e', '256K', '-f', '4', ...few];
  const rows = await measure('kv', ...sizes, ...requests, ...pushAndPull);
  // With 4 layers, pages of 1M would take half of the time of this section.
  const large = ['-b', '1M', '-e', '1M', '--layers', '1', ...few];
  rows.push(...(await measure('kv', ...large, ...requests, ...pushAndPull)));
  for (const row of rows) {
    const layers = row.bytes === 2 ** 20 ? ', 1 layer' : '';
    const what = `kv ${row.column}, pages of ${formatBytes(row.bytes)}${layers}`;
    // A request on one NIC cannot fill another: the target is for requests that are split over all of them.
    if (row.column === 'PushRoundRobinPin') show(`${what}, of its bound`, row.ofBoundPercent);
    // At 16K, the cost of a transfer besides its bytes shows.
    else if (row.bytes < 64 * 2 ** 10) show(`${what}, of line`, row.busbwPercent);
    else judge(`${what}, of line`, row.busbwPercent, 90);
  }
  return rows.filter(({ column }) => column === 'PushMultiPin');
}

function kvNote({ print }) {
  print(
    'With 16 requests, `PushRoundRobinPin` puts the same number of requests on every NIC, so its bound is the line rate; with 8 ' +
      'requests it is half of that (`--explain` shows both). A request stays on one NIC, and an iteration ends with ' +
      'the slowest of them.\n',
  );
}

const boundOf = ({ nanoseconds, ofBoundPercent }) => (nanoseconds.mean * ofBoundPercent) / 100;

/** Held against dispatch and combine one after the other, Both has a longer bound. */
function bothNote({ print }, { dispatch, combine, both }) {
  const longer = (boundOf(dispatch) + boundOf(combine)) / boundOf(both);
  print(
    '`BothMultiPin` is compared with [the bound without a barrier between iterations](measuring.md#the-bound), which ' +
      'can be reached only if ranks work on different iterations at the same time. If all ranks started dispatch and ' +
      `combine together, the bound would be ${((longer - 1) * 100).toFixed(1)} % longer and the share ` +
      `${(both.ofBoundPercent * longer).toFixed(1)} %. With \`--overlap\`, the first dispatch and the last combine of ` +
      'an iteration still overlap nothing, so these rows have no target either.\n',
  );
}

const ms = (nanoseconds) => (nanoseconds / 1e6).toFixed(1);
const us = (nanoseconds) => (nanoseconds / 1e3).toFixed(0);

async function coalescing({ measure, print }, coalesced) {
  const sizes = ['-b', '16K', '-e', '64K', '-f', '4', ...few];
  const apart = ['--columns', 'PushMultiPin', '--coalesce', 'off'];
  const rows = await measure('kv', ...sizes, ...requests, ...apart);
  print('`kv` PushMultiPin with and without coalescing:\n');
  print(
    '| pages | coalescing | GB/s | of line % | operations per s | saved % | last page p50, p99 (ms) |',
  );
  print('| ---: | --- | ---: | ---: | ---: | ---: | ---: |');
  for (const off of rows) {
    const on = coalesced.find(({ bytes }) => bytes === off.bytes);
    for (const [name, row] of Object.entries({ on, off })) {
      const cells = [
        formatBytes(row.bytes),
        name,
        row.handedOverGBps.toFixed(4),
        row.busbwPercent.toFixed(1),
        row.operationsPerSecond.toFixed(0),
        row.coalescedPercent.toFixed(1),
        `${ms(row.lastPageP50Nanoseconds)}, ${ms(row.lastPageP99Nanoseconds)}`,
      ];
      print(`| ${cells.join(' | ')} |`);
    }
  }
  print();
}

async function otherPatterns({ measure, print }) {
  const [permute] = await measure('permute', ...fourMiB, ...few, ...multi);
  const [bisect] = await measure('bisect', ...fourMiB, ...few, ...multi);
  print('Patterns, MultiPin, 4M per transfer:\n');
  print('| | Gbps per rank | worst Gbps | all ranks Gbps | of bound % |');
  print('| --- | ---: | ---: | ---: | ---: |');
  const line = (what, { gbps, worstGbps, totalGbps, ofBoundPercent }) => {
    const rates = [gbps, worstGbps, totalGbps].map((rate) => rate?.toFixed(3) ?? '');
    print(`| ${[what, ...rates, ofBoundPercent.toFixed(1)].join(' | ')} |`);
  };
  line('permute, 8 permutations', permute);
  line('bisect', bisect);
  print();
}

/** Where the load does not slow the pair down, the usual 64 round trips may end before the load has begun. */
async function victims({ measure, print }) {
  print('`victim` MultiPin: round trips of 8 bytes while the other two ranks write 16M each:\n');
  print('| load | alone p50 (us) | under load p50 (us) | slowdown |\n| --- | ---: | ---: | ---: |');
  for (const load of loads) {
    const trips = load === 'incast' ? '64' : '512';
    const words = ['--load', load, '--round-trips', trips, ...few, ...multi];
    const [row] = await measure('victim', ...words);
    const times = [row.aloneP50Nanoseconds, row.nanoseconds.p50].map(us);
    print(`| ${[load, ...times, `${row.slowdown.toFixed(2)} ×`].join(' | ')} |`);
  }
  print();
}
