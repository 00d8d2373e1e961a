// Views of buffers that nobody closed or kept, and many views of one buffer. Run with --expose-gc.
import { setImmediate as turn } from 'node:timers/promises';
import { HostBuffer } from '../../../dist/index.js';

const views = Array.from({ length: 50 }, (_, i) => new HostBuffer(64 * 1024).view().fill(i));
const one = new HostBuffer(4096);
for (let i = 0; i < 20_000; i++) one.view(i % 4096);
for (let i = 0; i < 5; i++) {
  globalThis.gc();
  await turn();
}
const intact = views.every((view, i) => view.every((byte) => byte === i));
const last = one.view();
one.close();
console.log(JSON.stringify({ intact, detached: last.length === 0 }));
