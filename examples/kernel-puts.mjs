// A user's kernel puts data to the next rank: kernel-puts.cu fills a buffer, requests the puts, and waits until they are
// delivered. Run it with node, torchrun, srun or mpirun. The ranks of a host use its GPUs in turn. KERNEL_PUTS_PROVIDER
// selects the provider (default: shm).
import { readFileSync } from 'node:fs';
import * as weft from '@weft-fabric/weft';

const availability = weft.gpuAvailability();
if (availability.reason) {
  console.error(availability.reason.message);
  process.exit(1);
}
if (weft.identify(process.env).size === 1) {
  const again = { command: process.execPath, args: process.argv.slice(1) };
  const job = await weft.spawnRanks({ ranks: 2, prefix: true, ...again });
  process.exit((await job.done).ok ? 0 : 1);
}
const blocks = 8;
const perBlock = 100_000;
const pieceBytes = perBlock * Float64Array.BYTES_PER_ELEMENT;

const world = await weft.openWorld();
const gpu = weft.openGpu(world.localRank % availability.gpus.length);
const kernel = gpu.loadKernel(
  readFileSync(new URL('kernel-puts.ptx', import.meta.url), 'utf8'),
  'fillAndPut',
);
const fabric = await weft.openFabric({ provider: process.env.KERNEL_PUTS_PROVIDER ?? 'shm' });
await weft.connectFabric(world, fabric);
// Pinned memory: the kernel accesses it over PCIe, and every provider can send from it.
const outbox = fabric.allocate(blocks * pieceBytes, { memory: 'pinned' });
const inbox = fabric.allocate(blocks * pieceBytes, { memory: 'pinned' });
const quieted = new weft.HostBuffer(4 * blocks, { memory: 'pinned' });

const next = (world.rank + 1) % world.size;
const previous = (world.rank - 1 + world.size) % world.size;
const piece = (block) => ({
  peer: next,
  from: block * pieceBytes,
  to: block * pieceBytes,
  bytes: pieceBytes,
});
const service = await weft.serveTransfers({
  ...{ world, fabric, gpu, source: outbox, target: inbox, producers: blocks },
  transfers: Array.from({ length: blocks }, (_, block) => piece(block)),
});
const firstOf = (rank, round) => rank * 1e9 + round * 1e7;
let wrong = 0;
for (let round = 0; round < 3; round++) {
  quieted.view().fill(0);
  const first = firstOf(world.rank, round);
  const args = [service.context, outbox.gpuAddress, perBlock, first, quieted.gpuAddress];
  await kernel.launch({ grid: blocks, block: 256 }, args, { signal: world.signal });
  wrong += new Int32Array(quieted.view().slice().buffer).filter((said) => said !== 1).length;
  // After the barrier, the puts of every rank are delivered, including those of the previous rank to this one.
  await world.barrier('put');
  const { buffer, byteOffset } = inbox.view();
  const values = new Float64Array(buffer, byteOffset, blocks * perBlock);
  const expected = firstOf(previous, round);
  wrong += values.filter((value, i) => value !== expected + i).length;
  await world.barrier('verified'); // the next round overwrites the inbox
}
await service.close();
console.log(`rank ${world.rank}: ${wrong} of ${3 * blocks * perBlock} values are wrong`);
if (wrong > 0) process.exitCode = 1;

quieted.close();
await fabric.close();
await world.close();
