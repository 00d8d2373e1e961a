// A rank that can be written to: tells where its memory is, learns who writes, and polls until it is stopped or ended.
import { openFabric } from '../../../dist/index.js';

const [options, bytes] = process.argv.slice(2);
const fabric = await openFabric(JSON.parse(options));
const buffer = fabric.allocate(Number(bytes));
process.on('message', (message) => {
  if (message === 'stop') return process.kill(process.pid, 'SIGSTOP');
  fabric.connect(1, message.everyone);
  process.send({ connected: true });
});
process.on('disconnect', () => process.exit());
process.send({
  addresses: fabric.addresses,
  region: buffer.describe(),
  virtualAddress: buffer.address,
});
