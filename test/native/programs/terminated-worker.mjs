// Starts worker threads that do native work of one kind, and terminates each in the middle of it.
// usage: node terminated-worker.mjs run|serve|queue|prepare|fill|register|write|copy TIMES
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { HostBuffer, openFabric } from '../../../dist/index.js';
import { addon } from '../../../dist/native/addon.js';
import { encodePlan } from '../../../dist/plan/encode.js';

const bytes = 2 ** 20;
const forEver = 1e9;

/** Two ranks of this thread write to each other; with a proxy, producers ask rank 0 for its writes. */
async function run(proxied) {
  const fabrics = [await openFabric({ provider: 'shm' }), await openFabric({ provider: 'shm' })];
  const addresses = fabrics.map((fabric) => fabric.addresses);
  for (const [rank, fabric] of fabrics.entries()) fabric.connect(rank, addresses);
  const buffers = [];
  for (const fabric of fabrics) {
    buffers.push({ source: await fabric.prepare(bytes), target: await fabric.prepare(bytes) });
  }
  const described = buffers.map(({ target }) => target.describe());
  for (const [rank, { port, remote }] of fabrics.entries()) {
    const peer = 1 - rank;
    const write = { kind: 'post', op: 'write', channel: 0, peer, slot: 0, after: [] };
    const local = { buffer: 'source', offset: 0, bytes };
    const wait = { kind: 'wait', source: peer, slot: 0, after: [], offset: 0, bytes };
    const shape = { version: 2, rank, world: 2, channels: 1, chunkBytes: 65_536, window: 8 };
    const steps = [{ ...write, local, remote: { offset: 0 } }, wait];
    const proxy = { producers: 1, block: 1, shift: 6, blocking: true, fill: true, seed: 1 };
    const asked = proxied && rank === 0;
    void port
      .drive((native) =>
        native.run({
          plan: encodePlan({
            ...{ ...shape, delivery: 'complete', sourceBytes: bytes, targetBytes: bytes },
            steps: proxied ? [steps[rank]] : steps,
          }),
          source: buffers[rank].source.region(port),
          target: buffers[rank].target.region(port),
          remotes: described.map((one) => remote.call(fabrics[rank], one).id),
          ...{ iterations: forEver, batch: forEver, timeoutMs: 20_000, expectedMs: 0 },
          spinsBeforeYield: 0,
          ...(asked && { proxy: { ...proxy, trace: false, transfers: [[0]] } }),
        }),
      )
      .catch((error) => parentPort.postMessage(`failed: ${error.message}`));
  }
}

/** Regions come and go; at any moment another thread is likely to register one. */
async function register() {
  const { port } = await openFabric({ provider: 'shm' });
  const memory = new HostBuffer(bytes).native;
  const again = async () => {
    for (let key = 1n; ; key++) {
      const { id } = await port.drive((native) => native.addRegionLater(memory, [key]));
      port.native.removeRegion(id);
    }
  };
  again().catch((error) => parentPort.postMessage(`failed: ${error.message}`));
}

/** Into memory that another process would share with this one. */
function intoShared(way) {
  const shared = new (addon().SharedMemory)(bytes);
  const peer = new (addon().PeerMemory)({ bytes, path: shared.path });
  peer[way]({ grid: 2, block: 256, bytes, seed: 1, batch: forEver, samples: 2 ** 20 });
}

const work = {
  run: () => run(false),
  serve: () => run(true),
  queue: () => {
    const job = { what: 'push', cells: 'host', grid: 2, block: 1, shift: 8, seed: 1 };
    const load = { each: 2 ** 24, batch: 2 ** 10, rounds: 0, released: false };
    addon().queueRun({ ...job, ...load, timeoutMs: 20_000, spinsBeforeYield: 0 });
  },
  prepare: () => void HostBuffer.prepare(2 ** 30, { memory: 'pinned' }),
  register,
  write: () => intoShared('write'),
  copy: () => intoShared('copy'),
  fill: () => void new HostBuffer(2 ** 28).fill(1),
};

async function main([kind, times]) {
  for (let i = 0; i < Number(times); i++) {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { kind } });
    const [said] = await once(worker, 'message');
    if (said !== 'working') throw new Error(said);
    for (let turns = 0; turns < 20 * i; turns++) await new Promise(setImmediate);
    await worker.terminate();
  }
  console.log(`terminated ${times}`);
}

if (isMainThread) {
  await main(process.argv.slice(2));
} else {
  await work[workerData.kind]();
  parentPort.postMessage('working');
}
