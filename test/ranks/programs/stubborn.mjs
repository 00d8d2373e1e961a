// A rank that ignores requests to end, as one stuck in a native loop would.
import { enterRank } from '../../../dist/world/index.js';

enterRank();
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
console.log('stubborn');
if (process.env.WEFT_RANK === process.env.TEST_EXIT) setTimeout(() => process.exit(42), 100);
else setInterval(() => {}, 1000);
