// Data goes around all ranks: each rank adds its number to what the previous rank put, and puts the sum to the next. Run
// it with node, torchrun, srun or mpirun. RING_RANKS sets the number of ranks with plain node (default: 4), RING_PROVIDER
// the provider (default: tcp).
import * as weft from '@weft-fabric/weft';

if (weft.identify(process.env).size === 1) {
  const again = { command: process.execPath, args: process.argv.slice(1) };
  const ranks = Number(process.env.RING_RANKS ?? 4);
  const job = await weft.spawnRanks({ ranks, prefix: true, ...again });
  process.exit((await job.done).ok ? 0 : 1);
}
const world = await weft.openWorld();
const fabric = await weft.openFabric({ provider: process.env.RING_PROVIDER ?? 'tcp' });
await weft.connectFabric(world, fabric);
const shmem = await weft.openShmem({ world, fabric, bytes: 2 ** 20 });
const length = 10_000;
const values = await shmem.allocate(Float64Array, length);
const inbox = await shmem.allocate(Float64Array, length);
const arrived = await shmem.allocate(Int32Array, 1);
const flag = await shmem.allocate(Int32Array, 1);

const next = (shmem.rank + 1) % shmem.size;
const rounds = 3;
flag.local[0] = 0;
for (let round = 1; round <= rounds; round++) {
  if (shmem.rank > 0 || round > 1) {
    const lap = shmem.rank === 0 ? round - 1 : round;
    await shmem.waitUntil(arrived, 0, (value) => value >= lap);
  }
  for (let i = 0; i < length; i++) values.local[i] = inbox.local[i] + i * (shmem.rank + 1);
  flag.local[0] = round;
  shmem.putNbi(inbox, values, next);
  shmem.fence(); // the flag must not overtake the data
  shmem.putNbi(arrived, flag, next);
  await shmem.quiet();
}
if (shmem.rank === 0) {
  await shmem.waitUntil(arrived, 0, (value) => value >= rounds);
  const expected = (rounds * (shmem.size * (shmem.size + 1))) / 2;
  const wrong = inbox.local.filter((value, i) => value !== i * expected).length;
  console.log(`${rounds} rounds of ${shmem.size} ranks: ${wrong} of ${length} sums are wrong`);
  if (wrong > 0) process.exitCode = 1;
}

await shmem.barrier();
await shmem.close();
await fabric.close();
await world.close();
