// Opens a fabric in shared memory, says so, and ends as told: `stay`, `exit`, `throw` or `return`.
import { openFabric } from '../../../dist/index.js';

const fabric = await openFabric({ provider: 'shm', channels: 2 });
fabric.allocate(4096);
console.log(`open ${process.pid}`);
const end = process.argv[2];
if (end === 'stay') setInterval(() => {}, 1000);
if (end === 'exit') process.exit(0);
if (end === 'throw') throw new Error('told to');
