// Ranks of a world, many in one process, with real sockets through the real rendezvous: what every rank does in
// bench-control.mjs. As a program, it is a process of such ranks, which begin when their parent says so.
import { fileURLToPath } from 'node:url';
import { gatherSamples } from '../dist/runner/gather-samples.js';
import { openWorld } from '../dist/world/world.js';

export const barriers = 100;
export const valueBytes = 4096;
export const iterations = 200;
const timeoutMs = 300_000;

const join = (rank, { size, port, beats }) =>
  openWorld({
    timeoutMs,
    // Beats would count as messages of whatever goes on.
    ...(!beats && { silenceMs: timeoutMs, heartbeatMs: timeoutMs }),
    env: {
      RANK: `${rank}`,
      WORLD_SIZE: `${size}`,
      LOCAL_RANK: `${rank}`,
      LOCAL_WORLD_SIZE: `${size}`,
      MASTER_ADDR: '127.0.0.1',
      MASTER_PORT: `${port}`,
      WEFT_TOKEN: 'for this benchmark only',
    },
  });

/** Everything that is measured, in order; `ended` hears of each part on the rank that passes it. */
export async function takePart(rank, job, ended = () => {}) {
  const world = await join(rank, job);
  ended('join');
  const value = new Uint8Array(valueBytes).fill(rank);
  const all = await world.allgather('addresses', value);
  if (all.some((one, source) => one.length !== valueBytes || one[0] !== source % 256)) {
    throw new Error(`rank ${rank} got wrong values`);
  }
  // Rank 0 has its result before the others have theirs.
  await world.barrier('all have them');
  ended('allgather');
  for (let i = 0; i < barriers; i++) await world.barrier('loop');
  ended('barriers');
  const samples = new Float64Array(iterations).map((_, i) => 1e6 + rank + i);
  const gathered = await gatherSamples(world, [samples], iterations);
  if (gathered?.some(([own], source) => own[1] !== 1e6 + source + 1)) {
    throw new Error('rank 0 got wrong samples');
  }
  ended('samples');
  await world.close();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [from, to, size, port] = process.argv.slice(2, 6).map(Number);
  const job = { size, port, beats: process.argv[6] === 'true' };
  const begin = new Promise((resolve) => process.once('message', resolve));
  process.send('ready');
  await begin;
  const ranks = Array.from({ length: to - from }, (_, i) => from + i);
  await Promise.all(ranks.map((rank) => takePart(rank, job)));
  process.disconnect();
}
