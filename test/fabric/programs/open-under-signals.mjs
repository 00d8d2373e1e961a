// Opens the first endpoint of a process over shm while its parent sends SIGTERM again and again; tells whether its
// shared memory is there afterwards.
import { readdirSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { Fabric } from '../../../dist/fabric/fabric.js';
import { findOffers } from '../../../dist/fabric/providers.js';

let heard = 0;
process.on('SIGTERM', () => heard++);
findOffers({ provider: 'shm' }); // libraries that are loaded now have handlers of their own
process.send('ready');
while (heard === 0) await turn();
const fabric = new Fabric({ provider: 'shm' });
const segments = readdirSync('/dev/shm').filter((name) => name.includes(`-${process.pid}-`));
await turn();
process.send({ heard, segments: segments.length });
await fabric.close();
process.disconnect();
