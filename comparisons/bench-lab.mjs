// The reference tables' shape on a lab of 4 hosts x 4 NICs, beside the tables themselves; then per-peer bandwidth
// against the number of hosts. What a NIC can carry is what iperf3 reaches in the same lab. Figures are medians over
// rounds. Exits with 1 when a target is missed.
//   npm run bench:lab -- [--rounds 3] [--parts write,sendrecv,small,all2all,workloads,hosts] [--out docs/lab-results.md]
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { enter } from '../dist/lab/index.js';
import { formatBytes } from '../dist/measure/units.js';
import { inLab, measured, runFile } from './lab.mjs';
import { workloads } from './lab-workloads.mjs';
import { median } from './turns.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    parts: { type: 'string', default: 'write,sendrecv,small,all2all,workloads,hosts' },
    out: { type: 'string' },
  },
});
const parts = new Set(values.parts.split(','));
const MiB = 2 ** 20;
const page = [];
let missed = 0;

const measure = (lab, ...args) => measured(lab, Number(values.rounds), ...args);

/** What TCP carries from one host to another over one NIC, in Gbps of payload. */
async function iperf(lab) {
  const rates = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const [command, ...into] = enter({ name: lab }, 1);
    const server = spawn(command, [...into, 'iperf3', '-s', '-1'], { stdio: 'ignore' });
    await sleep(500);
    const [outer, ...inside] = enter({ name: lab }, 0);
    const client = ['iperf3', '-c', '10.77.0.2', '-t', '4', '-O', '1', '-J'];
    const { stdout } = await runFile(outer, [...inside, ...client], { maxBuffer: 2 ** 26 });
    rates.push(JSON.parse(stdout).end.sum_received.bits_per_second / 1e9);
    server.kill();
  }
  return median(rates);
}

function print(line = '') {
  console.log(line);
  page.push(line);
}

function judge(what, percent, least, most = Number.POSITIVE_INFINITY) {
  const met = percent >= least && percent <= most;
  if (!met) missed++;
  const range = most === Number.POSITIVE_INFINITY ? `≥ ${least} %` : `${least}–${most} %`;
  print(`| ${what} | ${percent.toFixed(1)} % | ${range} | ${met ? 'met' : '**missed**'} |`);
}

/** A row of the same table without a target. */
const show = (what, percent) => print(`| ${what} | ${percent.toFixed(1)} % | | |`);

const judgement = () => print('| | measured | target | |\n| --- | ---: | ---: | --- |');

const reference = readFileSync(new URL('p5-reference.csv', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split(','))
  .map(([benchmark, , config, bytes, , , busbw]) => ({ benchmark, config, bytes: +bytes, busbw }));

/** Our table, with the reference's BusBW % in parentheses: there GPU memory over EFA, here pinned over TCP. */
function table(benchmark, rows, configs) {
  const columns = [...new Set(rows.map((row) => row.column))];
  print(`| size | ${columns.map((name) => `${name}: Gbps | BusBW % (p5)`).join(' | ')} |`);
  print(`| ---: |${columns.map(() => ' ---: | ---: |').join('')}`);
  for (const bytes of new Set(rows.map((row) => row.bytes))) {
    const cells = columns.map((column) => {
      const row = rows.find((one) => one.bytes === bytes && one.column === column);
      const theirs = reference.find(
        (one) =>
          one.benchmark === benchmark && one.bytes === bytes && one.config === configs[column],
      );
      const mark = row.labels.burst ? '\\*' : '';
      return `${row.gbps.toFixed(3)} | ${row.busbwPercent.toFixed(1)}${mark} (${theirs?.busbw ?? '–'})`;
    });
    print(`| ${formatBytes(bytes)} | ${cells.join(' | ')} |`);
  }
  print();
}

const at = (rows, column, bytes) =>
  rows.find((row) => row.column === column && row.bytes === bytes);
const sizes = (least, most) => ['-b', least, '-e', most, '-f', '4', '-n', '3', '-w', '1'];
const pin = { SinglePin: 'SinglePin', MultiPin: 'MultiDMA', RoundRobinPin: 'RoundRobinDMA' };
const columns = ['--columns', Object.keys(pin).join(',')];

async function oneSender(name) {
  const nic = await iperf(name);
  print(`iperf3 reaches ${(nic * 1000).toFixed(1)} Mbps of payload over one NIC.\n`);
  if (parts.has('write')) {
    const rows = await measure(name, 'write', ...sizes('256K', '16M'), ...columns);
    print('## write\n');
    table('write', rows, pin);
    judgement();
    const share = (column) => (at(rows, column, 16 * MiB).gbps / nic) * 100;
    judge('SinglePin at 16M, relative to iperf3', share('SinglePin'), 97);
    judge('MultiPin at 16M, relative to 4 × iperf3', share('MultiPin') / 4, 95);
    judge('RoundRobinPin at 16M, relative to 4 × iperf3', share('RoundRobinPin') / 4, 72);
    print();
  }
  if (parts.has('sendrecv')) {
    const rows = await measure(name, 'sendrecv', ...sizes('256K', '16M'), '--columns', 'SinglePin');
    print('## sendrecv\n');
    table('sendrecv', rows, { SinglePin: 'Host' });
    judgement();
    judge('SinglePin at 16M', (at(rows, 'SinglePin', 16 * MiB).gbps / nic) * 100, 46, 51);
    print();
  }
}

async function allToAll(name) {
  const rows = await measure(name, 'all2all', ...sizes('4M', '16M'), ...columns);
  print('## all2all\n');
  table('all2all', rows, { ...pin, SinglePin: 'SingleDMA' });
  judgement();
  for (const row of rows) {
    const size = `${row.column} at ${row.bytes / MiB}M`;
    judge(`${size}, of its bound`, row.ofBoundPercent, 90);
    if (row.column === 'RoundRobinPin')
      judge(`${size}, of four NICs on the wire`, row.linePercent, 67);
  }
  print();
}

const section = (name) =>
  workloads({
    measure: (...args) => measure(name, ...args),
    ...{ print, judge, show, judgement },
    rounds: values.rounds,
  });

async function scaling() {
  print('## all2all against the number of hosts\n');
  print(
    '2 NICs of 100mbit each, 4M per peer. Per peer the rate falls as 1 / (hosts − 1); the wire',
  );
  print('stays full.\n');
  print(
    '| hosts | column | Gbps per peer | Line % | of bound % |\n| ---: | --- | ---: | ---: | ---: |',
  );
  for (const hosts of ['2', '4', '8']) {
    const lab = { hosts, nics: '2', rate: '100mbit' };
    const rows = await inLab(lab, (name) =>
      measure(name, 'all2all', ...sizes('4M', '4M'), '--columns', 'SinglePin,MultiPin'),
    );
    for (const { column, gbps, linePercent, ofBoundPercent } of rows) {
      const figures = [gbps.toFixed(4), linePercent.toFixed(1), ofBoundPercent.toFixed(1)];
      print(`| ${hosts} | ${column} | ${figures.join(' | ')} |`);
    }
  }
  print();
}

/** Efficiency falls off where what a transfer costs besides its bytes is no longer little beside them. */
async function smallSizes() {
  const rows = await inLab({ hosts: '2', nics: '1', rate: '1gbit' }, (name) =>
    measure(name, 'write', '-b', '128', '-e', '512K', '-f', '4', '--columns', 'SinglePin'),
  );
  print('## write at small sizes\n');
  print('One NIC of 1gbit. The curve resembles the reference tables, shifted to smaller sizes.\n');
  table('write', rows, pin);
}

const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0];
print('# Results in the lab\n');
print('Written by `npm run bench:lab`. 4 hosts × 4 NICs; medians of rounds; every byte verified.');
print(
  'The values in parentheses are the BusBW % of the reference tables (p5.48xlarge, 4 × 100 Gbps EFA; GPU',
);
print(
  'memory for Multi and RoundRobin). \\* marks rows with too little data for the rate limit to take effect.\n',
);
console.log(`${values.rounds} rounds; load before: ${load}\n`);
if (parts.has('write') || parts.has('sendrecv')) {
  await inLab({ hosts: '4', nics: '4', rate: '250mbit' }, oneSender);
}
if (parts.has('all2all')) await inLab({ hosts: '4', nics: '4', rate: '100mbit' }, allToAll);
if (parts.has('workloads')) await inLab({ hosts: '4', nics: '4', rate: '100mbit' }, section);
if (parts.has('small')) await smallSizes();
if (parts.has('hosts')) await scaling();
if (values.out) writeFileSync(values.out, `${page.join('\n').trim()}\n`);
process.exitCode = missed > 0 ? 1 : 0;
