// Rows of tokens and pages on the GPU: how near gather, scatter and weighted sums come to the driver's copy of as many
// bytes, in alternating rounds of one run, timed by CUDA's events. On the GPU, GB/s count the bytes read and written;
// between GPU and host, those that cross. Exits with 1 when a target is missed, with 3 where there is no GPU.
//   npm run bench:tokens -- [--gpu 0] [--tokens 4096] [--pages 16384] [--rounds 9] [--repeats 20] [--json FILE]
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  gatherParts,
  gpuAvailability,
  HostBuffer,
  openGpu,
  prepareCopy,
  prepareSums,
  scatterParts,
} from '../dist/index.js';
import { median } from './turns.mjs';

const { values } = parseArgs({
  options: {
    gpu: { type: 'string', default: '0' },
    tokens: { type: 'string', default: '4096' },
    pages: { type: 'string', default: '16384' },
    rounds: { type: 'string', default: '9' },
    repeats: { type: 'string', default: '20' },
    json: { type: 'string' },
  },
});
const [tokens, pages, rounds, repeats] = ['tokens', 'pages', 'rounds', 'repeats'].map((name) =>
  Number(values[name]),
);
const [hidden, top, target, seed] = [7168, 8, 0.85, 1];
const rowKinds = [
  { name: 'bf16 tokens', rowBytes: 2 * hidden, count: tokens * top },
  { name: 'fp8 tokens with scales', rowBytes: hidden + (hidden / 128) * 4, count: tokens * top },
  { name: 'KV pages of 16 KiB', rowBytes: 16_384, count: pages },
];

/** The same for every run: numbers of a linear congruential generator, as 0 up to 1. */
function random(state) {
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Every row once, in random order. */
function shuffled(count) {
  const next = random(count);
  const rows = Int32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const other = Math.floor(next() * (i + 1));
    [rows[i], rows[other]] = [rows[other], rows[i]];
  }
  return rows;
}

/** A line of the table: two contenders that move `bytes`, as milliseconds of one repeat. */
const line = (name, bytes, copy, kernel) => ({
  name,
  bytes,
  copy,
  kernel,
  rates: { copy: [], kernel: [] },
});

/** Gather, scatter and sums between buffers that hold what they need in every round. */
function onDevice(gpu, { a, b, c, scratch }) {
  const copyOf = (bytes) => () => scratch.native.time('copyOnDevice', bytes, repeats, 0, 0);
  const work = (name, bytes, kernel, to, from) =>
    line(name, bytes, copyOf(bytes), () => kernel.time(to, from, repeats));
  const lines = rowKinds.flatMap(({ name, rowBytes, count }) => {
    const rows = shuffled(count);
    const moved = 2 * count * rowBytes;
    const gather = prepareCopy(gpu, gatherParts(rows, rowBytes));
    const scatter = prepareCopy(gpu, scatterParts(rows, rowBytes));
    return [
      work(`gather ${name}`, moved, gather, b, a),
      work(`scatter ${name}`, moved, scatter, c, b),
    ];
  });
  const index = shuffled(tokens * top);
  const next = random(3);
  const weights = Float32Array.from(index, next);
  for (const [dtype, width] of Object.entries({ bfloat16: 2, float16: 2, float32: 4 })) {
    const elements = width === 2 ? hidden : hidden / 2;
    const sums = prepareSums(gpu, { dtype, elements, addends: top, index, weights });
    const moved = (top + 1) * tokens * elements * width;
    lines.push(work(`weighted sum ${dtype}`, moved, sums, b, a));
  }
  return lines;
}

/** Straight into and out of a staging buffer. */
function overPcie(gpu, { a, host }) {
  const count = host.bytes / (2 * hidden);
  const rows = shuffled(count);
  const copy = (work) => () => a.native.time(work, host.bytes, repeats, 0, 0, host.native);
  const gather = prepareCopy(gpu, gatherParts(rows, 2 * hidden));
  const scatter = prepareCopy(gpu, scatterParts(rows, 2 * hidden));
  return [
    line('gather into pinned memory', host.bytes, copy('copyToHost'), () =>
      gather.time(host, a, repeats),
    ),
    line('scatter from pinned memory', host.bytes, copy('copyToDevice'), () =>
      scatter.time(a, host, repeats),
    ),
  ];
}

async function inRounds(lines) {
  for (let round = 0; round < rounds; round++) {
    for (const { bytes, rates, copy, kernel } of lines) {
      rates.copy.push(bytes / (await copy()) / 1e6);
      rates.kernel.push(bytes / (await kernel()) / 1e6);
    }
  }
}

function judge(lines) {
  const figure = (list) => median(list).toFixed(1).padStart(8);
  console.log(`${''.padEnd(32)} copy GB/s  kernel GB/s (by round)`);
  return lines.map(({ name, bytes, rates }) => {
    const ratio = median(rates.kernel) / median(rates.copy);
    const spread = `${Math.min(...rates.kernel).toFixed(0)}…${Math.max(...rates.kernel).toFixed(0)}`;
    const verdict = ratio >= target ? 'met' : 'MISSED';
    console.log(
      `${name.padEnd(32)}  ${figure(rates.copy)}     ${figure(rates.kernel)} ${`(${spread})`.padEnd(13)}` +
        `${(100 * ratio).toFixed(1).padStart(6)} %   target ${100 * target} % ${verdict}`,
    );
    return { name, bytes, ratio, rates };
  });
}

/** What was gathered and scattered back is as it was. */
async function verify(gpu, { a, b, c }) {
  for (const { name, rowBytes, count } of rowKinds) {
    const rows = shuffled(count);
    const bytes = count * rowBytes;
    await a.fill(seed);
    await c.set(0);
    await prepareCopy(gpu, gatherParts(rows, rowBytes)).run(b, a);
    await prepareCopy(gpu, scatterParts(rows, rowBytes)).run(c, b);
    const { wrong } = await c.verify(seed, { bytes });
    if (wrong > 0) throw new Error(`${name}: ${wrong} of ${bytes} bytes are wrong`);
  }
}

async function main() {
  const availability = gpuAvailability();
  if (availability.gpus.length === 0) {
    console.log(`skipped: ${availability.reason.message}`);
    return 3;
  }
  const gpu = openGpu(/^\d+$/.test(values.gpu) ? Number(values.gpu) : values.gpu);
  const { name, driverVersion } = gpu.description;
  console.log(
    `${name}, CUDA ${driverVersion}; ${tokens} tokens of ${hidden}, top ${top}; ${pages} pages; ${rounds} rounds of ${repeats}`,
  );
  const most = Math.max(...rowKinds.map(({ rowBytes, count }) => rowBytes * count));
  const [a, b, c] = Array.from({ length: 3 }, () => gpu.allocate(most));
  const scratch = gpu.allocate(2 * most);
  const host = new HostBuffer(tokens * 2 * hidden, { memory: 'pinned' });
  for (const buffer of [a, b, c, scratch, host]) await buffer.fill(seed);
  const buffers = { a, b, c, scratch, host };
  await verify(gpu, buffers);
  const lines = [...onDevice(gpu, buffers), ...overPcie(gpu, buffers)];
  await inRounds(lines);
  const results = judge(lines);
  if (values.json) {
    const facts = { gpu: gpu.description, tokens, pages, rounds, repeats, target };
    writeFileSync(values.json, `${JSON.stringify({ ...facts, results })}\n`);
  }
  return results.every(({ ratio }) => ratio >= target) ? 0 : 1;
}

process.exitCode = await main();
