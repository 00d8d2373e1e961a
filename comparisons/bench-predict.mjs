// Predictions against measurements in the lab: a model is fitted to runs at 2 hosts, then it predicts write, all2all,
// incast and moe in larger labs, which are measured in the same run. Prints the error of every row, and exits with 1 when
// the median is above 10 % or the worst above 20 %. The rate limit does not show in rows marked *: they are not judged.
//   npm run bench:predict -- [--rows FILE.csv]     (also keeps the rows that the model is fitted to)
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { formatBytes } from '../dist/measure/units.js';
import { folder, inLab, measured, weft } from './lab.mjs';
import { median } from './turns.mjs';

const { values } = parseArgs({ options: { rows: { type: 'string' } } });
const rate = '100mbit';
const targets = { median: 10, worst: 20 };
const timed = ['-n', '5', '-w', '1'];
const sizes = (from, to, factor) => ['-b', from, '-e', to, '-f', factor];
const columns = (...names) => ['--columns', names.join(',')];

/** What a transfer costs besides its bytes shows in tiny ones; the rate in large ones. */
const tiny = 256;
const tinySize = sizes(`${tiny}`, `${tiny}`, '2');
const fitted = [
  [3, 'write', ...tinySize, '-n', '500', ...columns('SinglePin', 'MultiPin')],
  [3, 'sendrecv', ...tinySize, '-n', '500', ...columns('SinglePin')],
  [1, 'write', ...sizes('1M', '8M', '2'), ...timed, ...columns('SinglePin', 'MultiPin')],
  [1, 'sendrecv', ...sizes('1M', '4M', '2'), ...timed, ...columns('SinglePin')],
  [1, 'all2all', ...sizes('1M', '4M', '2'), ...timed, ...columns('SinglePin', 'MultiPin')],
];
const also = ['all2all:SinglePin:4M', `write:MultiPin:${tiny}`];

/** Sizes such that one round of everything takes minutes. */
const labs = [
  { hosts: '4', nics: '4', from: '1M', to: '4M', factor: '4', tokens: '512' },
  { hosts: '8', nics: '2', from: '1M', to: '2M', factor: '2', tokens: '256' },
];
const pinned = columns('SinglePin', 'MultiPin', 'RoundRobinPin');
const layer = columns('DispatchMultiPin', 'CombineMultiPin', 'BothMultiPin');

/** The benchmarks of a lab: how they are measured, and with which options predicted. */
const jobsOf = ({ from, to, factor, tokens }) => [
  ...['write', 'all2all', 'incast'].map((id) => ({
    id,
    measure: [...sizes(from, to, factor), ...pinned],
    predict: ['--bytes', `${from}..${to}`, ...pinned],
  })),
  ...['uniform', 'zipf:1.2'].map((routing) => {
    const options = ['--tokens', tokens, '--routing', routing, ...layer];
    return { id: 'moe', note: routing, measure: options, predict: options };
  }),
];

const microseconds = ({ nanoseconds }) => nanoseconds.mean / 1000;

/** Measures at 2 hosts and fits; the path of the model. */
async function fit() {
  const lines = ['benchmark,nodes,config,size_bytes,lat_us'];
  await inLab({ hosts: '2', nics: '4', rate }, async (lab) => {
    for (const [rounds, id, ...args] of fitted) {
      for (const row of await measured(lab, rounds, id, ...args)) {
        if (row.labels.burst && row.bytes > tiny) continue;
        lines.push([id, 2, row.column, row.bytes, microseconds(row).toFixed(2)].join(','));
      }
    }
  });
  const table = values.rows ?? join(folder, 'rows.csv');
  writeFileSync(table, `${lines.join('\n')}\n`);
  const model = join(folder, 'model.json');
  const shape = ['--line-rate', '0.1', '--nics-per-rank', '4', '--name', 'fitted at 2 hosts'];
  const added = also.flatMap((row) => ['--also', row]);
  console.log(await weft('predict', 'fit', table, ...shape, ...added, '-o', model));
  return model;
}

async function predicted(fabric, { hosts, nics }, { id, predict }) {
  const world = ['--fabric', fabric, '--nodes', hosts, '--nics-per-rank', nics];
  return JSON.parse(await weft('predict', id, ...world, ...predict, '--format', 'json')).rows;
}

/** The rows of a lab with their errors in per cent: of the model fitted in this run, and of the one that Weft includes. */
async function compared(model, lab) {
  const rows = [];
  await inLab({ ...lab, rate }, async (name) => {
    for (const job of jobsOf(lab)) {
      const own = await predicted(model, lab, job);
      const shipped = await predicted('lab', lab, job);
      for (const row of await measured(name, 1, job.id, ...job.measure, '-n', '3', '-w', '1')) {
        const of = (all) =>
          microseconds(all.find((one) => one.column === row.column && one.bytes === row.bytes));
        const errorOf = (all) => 100 * (of(all) / microseconds(row) - 1);
        rows.push({ judged: !row.labels.burst, error: errorOf(own), shipped: errorOf(shipped) });
        const what = [`${lab.hosts} × ${lab.nics}`, [job.id, job.note].filter(Boolean).join(' ')];
        const times = [microseconds(row), of(own)].map((time) => (time / 1000).toFixed(1));
        const size = `${formatBytes(row.bytes)}${row.labels.burst ? '\\*' : ''}`;
        console.log(
          `| ${[...what, row.column, size, ...times, rows.at(-1).error.toFixed(1)].join(' | ')} |`,
        );
      }
    }
  });
  return rows;
}

const model = await fit();
console.log('| lab | benchmark | column | size | measured ms | predicted ms | error % |');
console.log('| --- | --- | --- | ---: | ---: | ---: | ---: |');
const rows = [];
for (const lab of labs) rows.push(...(await compared(model, lab)));

const judged = rows.filter((row) => row.judged);
const summary = (errors) => ({ median: median(errors), worst: Math.max(...errors) });
const own = summary(judged.map(({ error }) => Math.abs(error)));
const shipped = summary(judged.map(({ shipped }) => Math.abs(shipped)));
const text = ({ median, worst }) => `median ${median.toFixed(1)} %, worst ${worst.toFixed(1)} %`;
const met = own.median <= targets.median && own.worst <= targets.worst;
console.log(
  `\n${judged.length} rows: ${text(own)}; targets ${targets.median} and ${targets.worst} %: ${met ? 'met' : 'MISSED'}`,
);
console.log(`with the model lab that Weft includes: ${text(shipped)}`);
process.exitCode = met ? 0 : 1;
