// A rank that can be written to: tells where its memory is, learns who writes, and polls until it is ended.
import { openFabric } from '../../../dist/index.js';

const [options, bytes] = process.argv.slice(2);
const fabric = await openFabric(JSON.parse(options));
const buffer = fabric.allocate(Number(bytes));
process.on('message', ({ everyone }) => {
  fabric.connect(1, everyone);
  process.send({ connected: true });
});
process.on('disconnect', () => process.exit());
process.send({
  addresses: fabric.addresses,
  region: buffer.describe(),
  virtualAddress: buffer.address,
});
