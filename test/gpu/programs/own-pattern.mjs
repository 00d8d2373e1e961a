// Fills and verifies memory of GPU 0 again and again with a seed of its own; prints how many bytes were ever wrong.
import { openGpu } from '../../../dist/index.js';

const seed = Number(process.argv[2]);
const buffer = openGpu().allocate(64 * 2 ** 20);
let wrong = 0;
for (let round = 0; round < 20; round++) {
  await buffer.fill(seed + round);
  wrong += (await buffer.verify(seed + round)).wrong;
}
buffer.close();
console.log(JSON.stringify({ wrong }));
