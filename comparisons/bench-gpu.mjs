// The GPU's own ceilings, and how near Weft's fill and verify come to them, in alternating rounds of one run, timed by
// CUDA's events. Exits with 1 when a target is missed, with 3 where there is no GPU.
//   npm run bench:gpu -- [--gpu 0] [--mib 1024] [--rounds 9] [--repeats 20] [--sweep] [--json FILE]
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { gpuAvailability, HostBuffer, openGpu } from '../dist/index.js';

const { values } = parseArgs({
  options: {
    gpu: { type: 'string', default: '0' },
    mib: { type: 'string', default: '1024' },
    'copy-mib': { type: 'string', default: '256' },
    rounds: { type: 'string', default: '9' },
    repeats: { type: 'string', default: '20' },
    sweep: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
const [mib, copyMib, rounds, repeats] = ['mib', 'copy-mib', 'rounds', 'repeats'].map((name) =>
  Number(values[name]),
);
const targets = { fill: 0.9, verify: 0.8 };
/** Blocks per multiprocessor × threads; the ceiling of reading is the best of them. */
const readShapes = [
  [2, 512],
  [4, 512],
  [2, 1024],
  [8, 256],
];
const sweepShapes = [1, 2, 3, 4, 8].flatMap((blocks) =>
  [256, 512, 1024].map((threads) => [blocks, threads]),
);

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const gigabytesPerSecond = (bytes, milliseconds) => bytes / milliseconds / 1e6;

/** Every contender once a round; GB/s by name, one per round. */
async function inRounds(contenders) {
  const rates = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(contenders)) rates[name].push(await run());
  }
  return rates;
}

function timer(device, bytes) {
  return async (work, [blocks, threads] = [0, 0], host = undefined) => {
    const moved = work === 'copyOnDevice' ? bytes / 2 : bytes;
    const milliseconds = await device.native.time(work, bytes, repeats, blocks, threads, host);
    return gigabytesPerSecond(moved, milliseconds);
  };
}

const shapeName = (work, [blocks, threads]) => `${work} ${blocks}x${threads}`;

function contendersFor(device, host, shapes) {
  const time = timer(device, device.bytes);
  const copy = timer(device, host.bytes);
  const shaped = (work) => shapes.map((shape) => [shapeName(work, shape), () => time(work, shape)]);
  return {
    memset: () => time('set'),
    fill: () => time('fill'),
    // From here on the buffer holds the pattern, so verify takes the path of right data.
    ...(values.sweep ? Object.fromEntries(shaped('fill')) : {}),
    ...Object.fromEntries(shaped('read')),
    verify: () => time('verify'),
    ...(values.sweep ? Object.fromEntries(shaped('verify')) : {}),
    'device to device': () => time('copyOnDevice'),
    'device to host': () => copy('copyToHost', undefined, host.native),
    'host to device': () => copy('copyToDevice', undefined, host.native),
  };
}

function judge(rates) {
  const medians = Object.fromEntries(
    Object.entries(rates).map(([name, list]) => [name, median(list)]),
  );
  for (const [name, list] of Object.entries(rates)) {
    const spread = `${Math.min(...list).toFixed(0)}…${Math.max(...list).toFixed(0)}`;
    console.log(`${name.padEnd(18)} ${medians[name].toFixed(1).padStart(8)} GB/s   (${spread})`);
  }
  const read = Math.max(
    ...Object.keys(medians)
      .filter((n) => n.startsWith('read '))
      .map((n) => medians[n]),
  );
  const ratios = { fill: medians.fill / medians.memset, verify: medians.verify / read };
  for (const [name, ratio] of Object.entries(ratios)) {
    const against = name === 'fill' ? 'memset' : 'the best read';
    const verdict = ratio >= targets[name] ? 'met' : 'MISSED';
    console.log(
      `${name.padEnd(6)} ${(100 * ratio).toFixed(1)} % of ${against}   target ${100 * targets[name]} % ${verdict}`,
    );
  }
  return {
    medians,
    ratios,
    met: Object.keys(targets).every((name) => ratios[name] >= targets[name]),
  };
}

async function main() {
  const availability = gpuAvailability();
  if (availability.gpus.length === 0) {
    console.log(`skipped: ${availability.reason.message}`);
    return 3;
  }
  const gpu = openGpu(/^\d+$/.test(values.gpu) ? Number(values.gpu) : values.gpu);
  const { name, computeCapability, multiprocessors, driverVersion } = gpu.description;
  console.log(
    `${name}, ${multiprocessors} multiprocessors, compute capability ${computeCapability}, CUDA ${driverVersion}; ` +
      `${mib} MiB, copies ${copyMib} MiB, ${rounds} rounds of ${repeats}`,
  );
  const device = gpu.allocate(mib * 2 ** 20);
  const host = new HostBuffer(copyMib * 2 ** 20, { memory: 'pinned' });
  if (!host.gpuRegistered) throw new Error('the pinned buffer is not registered with CUDA');
  // Copies to the device must leave the pattern in place: the host holds it, too.
  await host.fill(1);
  const rates = await inRounds(
    contendersFor(device, host, values.sweep ? sweepShapes : readShapes),
  );
  const outcome = judge(rates);
  await device.fill(1);
  const { wrong } = await device.verify(1);
  if (wrong > 0) throw new Error(`${wrong} bytes are wrong`);
  device.close();
  host.close();
  if (values.json) {
    writeFileSync(
      values.json,
      `${JSON.stringify({ gpu: gpu.description, mib, copyMib, rounds, repeats, rates, ...outcome })}\n`,
    );
  }
  return outcome.met ? 0 : 1;
}

process.exitCode = await main();
