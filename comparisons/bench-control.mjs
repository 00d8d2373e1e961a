// How the control plane grows: ranks join, exchange 4 KiB each, pass 100 barriers and hand 200 samples each to rank 0.
// Rank 0 has a process of its own; the others share some. Prints time, CPU time, memory and messages of rank 0's
// process for each size, draws them to an SVG file, and exits with 1 if joining takes 15 s or more, or if messages, bytes,
// CPU time or memory grow faster than the ranks. With `--beats`, ranks send heartbeats and give each other up as in a job;
// messages then include the beats.
//   npm run bench:control -- [--ranks 64,256,1024] [--processes 4] [--beats] [--out docs/images/control-plane.svg]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { across, framed, strokeOf, upright } from '../dist/report/axes.js';
import { renderSvg } from '../dist/report/svg.js';
import { decadeTicks, doublingTicks } from '../dist/report/ticks.js';
import { Connection } from '../dist/world/rendezvous/connection.js';
import { FrameReader } from '../dist/world/rendezvous/frames.js';
import { barriers, iterations, takePart, valueBytes } from './control-ranks.mjs';

const { values } = parseArgs({
  options: {
    ranks: { type: 'string', default: '64,256,1024' },
    processes: { type: 'string', default: '4' },
    out: { type: 'string', default: 'docs/images/control-plane.svg' },
    beats: { type: 'boolean', default: false },
    // One size in this process, for its parent: memory is a process's own.
    only: { type: 'string' },
  },
});
const sizes = values.ranks.split(',').map(Number);
const mostJoinMs = 15_000;
const parts = ['join', 'allgather', 'barriers', 'samples'];
const titles = {
  join: 'join',
  allgather: `allgather of ${valueBytes / 1024} KiB each`,
  barriers: `${barriers} barriers`,
  samples: `gather of ${iterations} samples each`,
};

const names = { messages: 'messages', bytes: 'bytes', cpuMs: 'CPU time', rssMiB: 'memory' };

/** What this process, which holds rank 0, sends and receives. */
const traffic = { sent: 0, received: 0, bytes: 0 };

function count() {
  const { sendEncoded } = Connection.prototype;
  Connection.prototype.sendEncoded = function counted(frames) {
    // A frame's first 4 bytes are its length; the top bit says that its message goes on.
    for (let at = 0; at < frames.length; ) {
      const header = frames.readUInt32BE(at);
      if (header < 0x8000_0000) traffic.sent++;
      at += 4 + (header % 0x8000_0000);
    }
    traffic.bytes += frames.length;
    sendEncoded.call(this, frames);
  };
  const { next } = FrameReader.prototype;
  FrameReader.prototype.next = function counted() {
    const found = next.call(this);
    if (found !== undefined) traffic.received++;
    return found;
  };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

/** One world. Resolves with what each part took. */
async function measure(size) {
  count();
  const port = await freePort();
  const processes = Math.min(Number(values.processes), size - 1);
  const script = fileURLToPath(new URL('control-ranks.mjs', import.meta.url));
  const bounds = Array.from({ length: processes + 1 }, (_, i) =>
    Math.round(1 + ((size - 1) * i) / processes),
  );
  const children = bounds
    .slice(1)
    .map((to, i) => fork(script, [bounds[i], to, size, port, values.beats].map(String)));
  const endings = children.map((child) => once(child, 'exit'));
  await Promise.all(children.map((child) => once(child, 'message')));
  const measured = {};
  let before = { ms: performance.now(), cpu: process.cpuUsage(), ...traffic };
  for (const child of children) child.send('begin');
  await takePart(0, { size, port, beats: values.beats }, (part) => {
    const { user, system } = process.cpuUsage(before.cpu);
    measured[part] = {
      ms: performance.now() - before.ms,
      cpuMs: (user + system) / 1000,
      messages: traffic.sent + traffic.received - before.sent - before.received,
      bytes: traffic.bytes - before.bytes,
      rssMiB: process.resourceUsage().maxRSS / 1024,
    };
    before = { ms: performance.now(), cpu: process.cpuUsage(), ...traffic };
  });
  for (const [code] of await Promise.all(endings)) {
    if (code !== 0) throw new Error(`a process of ranks exited with ${code}`);
  }
  return measured;
}

/** In a process of its own. */
async function measureApart(size) {
  const options = ['--only', `${size}`, '--processes', values.processes];
  if (values.beats) options.push('--beats');
  const child = fork(fileURLToPath(import.meta.url), options);
  const [measured] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${size} ranks: exit ${code}`))),
  ]);
  return measured;
}

function print(size, measured) {
  const pad = (value, digits = 0) => value.toFixed(digits).padStart(9);
  for (const part of parts) {
    const { ms, cpuMs, messages, bytes, rssMiB } = measured[part];
    const cells = [pad(ms / 1000, 2), pad(cpuMs / 1000, 2), pad(rssMiB), pad(messages)];
    console.log(
      `${String(size).padStart(6)}  ${part.padEnd(10)} ${cells.join(' ')} ${pad(bytes / 2 ** 20, 1)}`,
    );
  }
}

function chart(id, title, caption, yName, lines) {
  const data = lines.flatMap(({ points }) => points.map(([, y]) => y));
  return {
    id,
    kind: 'nodes',
    benchmark: 'control',
    title,
    caption,
    summary: lines
      .map(({ name, points }) => `${name}: ${points.at(-1)[1]} at ${points.at(-1)[0]} ranks`)
      .join('; '),
    heightPx: 340,
    option: framed({
      tooltip: 'axis number number',
      legend: lines.map(({ name }) => name),
      x: across({ name: 'ranks', text: 'number', ticks: doublingTicks(sizes) }),
      y: upright({ name: yName, text: 'number', ticks: decadeTicks(data) }),
      yName,
      series: lines.map(({ name, points }, i) => ({
        type: 'line',
        name,
        ...strokeOf({
          color: i,
          dash: i === lines.length - 1 && name.startsWith('linear') ? 2 : 0,
        }),
        symbolSize: 8,
        data: points,
      })),
    }),
  };
}

const round = (value) => Number(value.toPrecision(3));

function draw(results) {
  const lines = (of) =>
    parts.map((part) => ({
      name: titles[part],
      points: results.map(([size, measured]) => [size, round(of(measured[part]))]),
    }));
  const linear = (drawn) => {
    const first = Math.min(...drawn.map(({ points }) => points[0][1]));
    const points = sizes.map((size) => [size, round((first * size) / sizes[0])]);
    return [...drawn, { name: 'linear growth', points }];
  };
  const memory = results.map(([size, measured]) => [
    size,
    round(Math.max(...parts.map((part) => measured[part].rssMiB))),
  ]);
  return renderSvg([
    chart(
      'time',
      'Time of each operation',
      'All ranks on one machine.',
      'seconds',
      linear(lines(({ ms }) => ms / 1000)),
    ),
    chart(
      'messages',
      'Messages that rank 0 sends and receives',
      'Messages of the process that holds rank 0, in each operation.',
      'messages',
      linear(lines(({ messages }) => messages)),
    ),
    chart(
      'memory',
      'Memory of rank 0',
      'Most that the process which holds rank 0 ever used.',
      'MiB',
      linear([{ name: 'resident memory', points: memory }]),
    ),
  ]);
}

if (values.only !== undefined) {
  process.send(await measure(Number(values.only)));
  process.disconnect();
} else {
  console.log(' ranks  part        seconds     CPU s       MiB  messages  MiB sent');
  const results = [];
  for (const size of sizes) {
    const measured = await measureApart(size);
    print(size, measured);
    results.push([size, measured]);
  }
  writeFileSync(values.out, draw(results));
  console.log(values.out);
  const late = results.filter(([, { join }]) => join.ms >= mostJoinMs).map(([size]) => size);
  const growing = (figure) =>
    parts.filter((part) => {
      const shares = results.map(([size, measured]) => measured[part][figure] / size);
      return shares.at(-1) > 1.5 * shares[0];
    });
  if (late.length > 0) console.log(`joining took ${mostJoinMs / 1000} s or more with: ${late}`);
  const tooFast = ['messages', 'bytes', 'cpuMs', 'rssMiB'].map((figure) => [
    figure,
    growing(figure),
  ]);
  for (const [figure, found] of tooFast) {
    if (found.length > 0) console.log(`${names[figure]} grew faster than the ranks in: ${found}`);
  }
  process.exitCode = late.length > 0 || tooFast.some(([, found]) => found.length > 0) ? 1 : 0;
}
