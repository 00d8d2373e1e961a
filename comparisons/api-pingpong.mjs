// One rank of a ping-pong over the awaitable API, as comparisons/fabric-pingpong.c does it with `--op sendrecv`: rank 0
// sends, rank 1 answers; a sample is half a round trip, and rank 0's clock is read once per batch.
import { connectFabric, openFabric, openWorld } from '../dist/index.js';
import { pinToCores } from '../dist/native/process.js';

const [provider, ...numbers] = process.argv.slice(2);
const [bytes, iterations, warmup, batch, ...cores] = numbers.map(Number);
const compilingRounds = 10_000;
const world = await openWorld();
const fabric = await openFabric({ provider });
pinToCores([cores[world.rank]]);
const out = fabric.allocate(bytes);
const into = fabric.allocate(bytes);
await out.fill(world.rank);
await connectFabric(world, fabric);
const channel = fabric.channel(1 - world.rank);
const [outgoing, incoming] = [out.slice(), into.slice()];
let arrived = channel.recv(incoming);
await world.barrier('receives are posted');

async function pingPong(count, message) {
  for (let i = 0; i < count; i++) {
    await channel.send(message);
    await arrived;
    arrived = channel.recv(incoming);
  }
}

async function pongPing(count, message) {
  for (let i = 0; i < count; i++) {
    await arrived;
    arrived = channel.recv(incoming);
    await channel.send(message);
  }
}

const exchange = world.rank === 0 ? pingPong : pongPing;
// C is compiled before it runs; JavaScript is while it runs, and large messages alone would be too few for that.
await exchange(compilingRounds, out.slice(0, Math.min(bytes, 8192)));
await exchange(warmup, outgoing);
const samples = [];
for (let done = 0; done < iterations; done += batch) {
  const start = process.hrtime.bigint();
  await exchange(batch, outgoing);
  samples.push(Number(process.hrtime.bigint() - start) / (2 * batch));
}
await world.barrier('done');
const { wrong } = await into.verify(1 - world.rank);
if (wrong > 0) throw new Error(`rank ${world.rank}: ${wrong} bytes are wrong`);
samples.sort((a, b) => a - b);
const figures = { min: samples[0], median: samples[samples.length >> 1] };
if (world.rank === 0) console.log(JSON.stringify(figures));
arrived.catch(() => {}); // the last receive ends with the fabric
await fabric.close();
await world.close();
