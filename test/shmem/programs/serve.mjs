// One case of served transfers with real ranks; the case is the first argument. Rank 0 prints what came out. Producers are
// on the CPU here: the board, the proxy and the executor are those that kernels use.
import * as weft from '@weft-fabric/weft';

const world = await weft.openWorld();
const fabric = await weft.openFabric({ provider: process.env.SERVE_PROVIDER, channels: 2 });
await weft.connectFabric(world, fabric);
const { rank, size } = world;
const others = [...Array(size).keys()].filter((peer) => peer !== rank);

/** Different sizes, to every other rank in turn; from rank r they lie in the r-th part of the target. */
const sizes = [1, 8, 100, 4096, 65_537, 3_000_000, 777, 20_000];
const partBytes = 4 * 2 ** 20;
const transfers = [];
for (let from = 0, i = 0; i < sizes.length; from += sizes[i++]) {
  const peer = others[i % others.length];
  transfers.push({ peer, from, to: rank * partBytes + from, bytes: sizes[i] });
}
const source = fabric.allocate(partBytes);
const target = fabric.allocate(partBytes * size);
const serve = (options) =>
  weft.serveTransfers({ world, fabric, source, target, transfers, timeoutMs: 20_000, ...options });

/** Wrong bytes of what every other rank put here. */
async function wrongBytes(seed, senders = others) {
  let wrong = 0;
  for (const sender of senders) {
    const peers = [...Array(size).keys()].filter((peer) => peer !== sender);
    for (let from = 0, i = 0; i < sizes.length; from += sizes[i++]) {
      if (peers[i % peers.length] !== rank) continue;
      const range = { offset: sender * partBytes + from, bytes: sizes[i], position: from };
      wrong += (await target.verify(seed + sender, range)).wrong;
    }
  }
  return wrong;
}

async function summed(wrong) {
  const all = await world.allgather('wrong', wrong);
  return all.reduce((sum, one) => sum + one, 0);
}

const cases = {
  async each() {
    const service = await serve({ producers: 2 });
    let wrong = 0;
    for (let round = 1; round <= 5; round++) {
      await source.fill(100 * round + rank);
      for (const index of transfers.keys()) {
        service.putNbi(index, index % 2);
        if (round % 2) await service.quiet(index % 2);
      }
      await service.quiet(0);
      await service.quiet(1);
      await world.barrier('put');
      wrong += await wrongBytes(100 * round);
      await world.barrier('verified');
    }
    await service.close();
    return `${await summed(wrong)} wrong`;
  },
  async drained() {
    const service = await serve();
    await source.fill(7 + rank);
    // Rank 0 only receives from now on; the others leave everything to close.
    if (rank > 0) for (const index of transfers.keys()) service.putNbi(index);
    await service.close();
    const wrong = await wrongBytes(
      7,
      others.filter((sender) => sender > 0),
    );
    // The fabric is free again, for plans and for another service.
    const again = await serve();
    again.putNbi(0);
    await again.quiet();
    await again.close();
    return `${await summed(wrong)} wrong`;
  },
  async nothing() {
    const service = await serve({ transfers: [] });
    await service.quiet();
    await service.close();
    const refused = await service.quiet().catch((error) => error.code);
    return `nothing asked, then ${refused}`;
  },
  async misuse() {
    const said = [];
    const attempt = async (what) => {
      try {
        await what();
        said.push('done');
      } catch (error) {
        said.push(error.code ?? error.name);
      }
    };
    const peer = others[0];
    await attempt(() => serve({ transfers: [{ peer: rank, from: 0, to: 0, bytes: 1 }] }));
    await attempt(() => serve({ transfers: [{ peer, from: partBytes, to: 0, bytes: 1 }] }));
    const targets = await weft.exchangeRegions(world, fabric, target);
    const service = await serve();
    await attempt(() => service.context.length);
    await attempt(() => service.putNbi(0, 5));
    await attempt(() => fabric.channel(peer).write(source.slice(0, 1), targets[peer].slice(0, 1)));
    await service.close();
    await attempt(() => fabric.channel(peer).write(source.slice(0, 1), targets[peer].slice(0, 1)));
    return said.join(' ');
  },
  async unknown() {
    const service = await serve();
    if (rank === 0) {
      service.putNbi(sizes.length);
      const error = await service.quiet().catch((reason) => reason);
      console.log(`${error.code}: ${error.message}`);
      await world.fail(error);
    }
    const ended = await service.close().catch((error) => error.code);
    console.log(`rank ${rank}: ${ended}`);
    await fabric.close();
    process.exit(0);
  },
  async killed() {
    const service = await serve();
    await source.fill(rank);
    service.putNbi(0);
    await service.quiet();
    await world.barrier('started');
    if (rank === size - 1) process.kill(process.pid, 'SIGKILL');
    const code = await service.close().catch((error) => error.code);
    const after = await service.close().catch((error) => error.code);
    console.log(`rank ${rank}: ${code} ${after}`);
    await fabric.close();
    process.exit(0);
  },
};

const said = await cases[process.argv[2]]();
if (rank === 0) console.log(said);
await world.barrier('end');
await fabric.close();
await world.close();
