// Opens an endpoint with a region and closes both, again and again: `endpoints`, or everything down to the discovery
// of what libfabric offers: `whole`. Prints what the process holds on the way, as comparisons/open-close-loop.c does.
// Run with --expose-gc: garbage that waits for its collection is no leak.
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { PromisePort } from '../../../dist/fabric/port.js';
import { findOffers } from '../../../dist/fabric/providers.js';
import { FabricBuffer } from '../../../dist/fabric/region.js';
import { openFabric } from '../../../dist/index.js';

const [mode, provider, ...numbers] = process.argv.slice(2);
const [cycles, every] = numbers.map(Number);
const bytes = 4096;
const points = [];

async function report(cycle) {
  for (let i = 0; i < 3; i++) {
    globalThis.gc();
    await turn();
  }
  const pages = Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[1]);
  points.push({ cycle, residentKiB: pages * 4, descriptors: readdirSync('/proc/self/fd').length });
}

async function whole() {
  const fabric = await openFabric({ provider });
  fabric.allocate(bytes);
  await fabric.close();
}

const [{ info, directed }] = findOffers({ provider });
function endpoint() {
  const port = new PromisePort();
  port.native.open(info.handle, { directed, peersExpected: 0, localShm: false });
  const parts = { bytes, memory: 'host', port, keys: [1n], onClose: () => {} };
  const buffer = new FabricBuffer({ ...parts, bases: (address) => [address] });
  buffer.close();
  port.close();
}

const once = mode === 'whole' ? whole : endpoint;
await report(0);
for (let cycle = 1; cycle <= cycles; cycle++) {
  await once();
  if (cycle % every === 0) await report(cycle);
}
console.log(JSON.stringify({ provider, cycles, points }));
