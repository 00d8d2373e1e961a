// Every rank writes a block of its own to every rank, itself included, several rounds; the target checks every byte.
import { connectFabric, exchangeRegions, openFabric, openWorld } from '../../../dist/index.js';

const [provider, bytes, rounds] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const timeoutMs = 60_000;
const world = await openWorld({ timeoutMs });
const fabric = await openFabric({ provider, channels: 2, peersExpected: world.size });
const outbox = fabric.allocate(bytes * world.size);
const inbox = fabric.allocate(bytes * world.size);
await connectFabric(world, fabric);
const remotes = await exchangeRegions(world, fabric, inbox);
const ranks = Array.from({ length: world.size }, (_, rank) => rank);
const seed = (round, from, to) => (round * world.size + from) * world.size + to;

let checked = 0;
let wrong = 0;
for (let round = 0; round < rounds; round++) {
  for (const peer of ranks) {
    await outbox.fill(seed(round, world.rank, peer), { offset: peer * bytes, bytes });
  }
  await Promise.all(
    ranks.flatMap((peer) => [
      fabric
        .channel(peer, round % 2)
        .write(outbox.slice(peer * bytes, bytes), remotes[peer].slice(world.rank * bytes, bytes), {
          immediate: round,
          timeoutMs,
        }),
      fabric.channel(peer, round % 2).immediate(round, { timeoutMs }),
    ]),
  );
  for (const peer of ranks) {
    const place = { offset: peer * bytes, bytes };
    wrong += (await inbox.verify(seed(round, peer, world.rank), place)).wrong;
    checked += bytes;
  }
  await world.barrier('checked');
}
const totals = await world.gather('totals', { checked, wrong });
if (totals) console.log(JSON.stringify(totals));
await fabric.close();
await world.close();
