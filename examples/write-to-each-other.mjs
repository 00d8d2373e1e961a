// Two ranks write to each other. Run it with node, torchrun, srun or mpirun.
import * as weft from '@weft-fabric/weft';

if (weft.identify(process.env).size === 1) {
  const again = { command: process.execPath, args: process.argv.slice(1) };
  const job = await weft.spawnRanks({ ranks: 2, prefix: true, ...again });
  process.exit((await job.done).ok ? 0 : 1);
}
const world = await weft.openWorld();
const fabric = await weft.openFabric({ provider: 'tcp' });
const outbox = fabric.allocate(64);
const inbox = fabric.allocate(64);
await weft.connectFabric(world, fabric);
const inboxes = await weft.exchangeRegions(world, fabric, inbox);

const [next, previous] = [1, -1].map((step) => (world.rank + step + world.size) % world.size);
outbox.view().set(new TextEncoder().encode(`rank ${world.rank} greets rank ${next}`));
await fabric.channel(next).write(outbox.slice(), inboxes[next].slice(), { immediate: 1 });
await fabric.channel(previous).immediate(1, { timeoutMs: 10_000 });
console.log(new TextDecoder().decode(inbox.view()).replaceAll('\0', ''));

await world.barrier('everyone has been written to');
await fabric.close();
await world.close();
