// Joins, exchanges something of every kind, and prints one JSON line per rank.
import { allowedCores } from '../../../dist/native/process.js';
import { openWorld } from '../../../dist/world/index.js';

await inWorld(async (world) => {
  const squares = await world.allgather('squares', { rank: world.rank, square: world.rank ** 2 });
  await world.barrier('middle');
  const bytes = await world.allgather('bytes', new Uint8Array([world.rank, 255]));
  const large = await world.allgather('large', new Float64Array(100_000).fill(world.rank + 0.5));
  const ranks = await world.allgather('next', BigInt(world.rank));
  const next = ranks[(world.rank + 1) % world.size];
  const gathered = await world.gather('gathered', world.rank * 10);
  const said = await world.broadcast('said', world.rank === 0 ? 'hello' : undefined);
  const sum = squares.reduce((total, { square }) => total + square, 0);
  console.log(
    JSON.stringify({
      rank: world.rank,
      size: world.size,
      localRank: world.localRank,
      localSize: world.localSize,
      launcher: world.launcher,
      authenticated: world.authenticated,
      hosts: world.hosts,
      pids: world.members.map((member) => member.pid),
      netns: new Set(world.members.map((member) => member.netns)).size,
      sum,
      bytes: bytes.map((each) => each[0]),
      large: large.map((each) => each[99_999]),
      next: String(next),
      gathered,
      said,
      cores: allowedCores(),
    }),
  );
});

async function inWorld(use) {
  const world = await openWorld({ timeoutMs: Number(process.env.TEST_TIMEOUT_MS ?? 20_000) });
  try {
    await use(world);
  } finally {
    await world.close();
  }
}
