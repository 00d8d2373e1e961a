// A name server for pods: `resolver.mjs ADDRESS FILE`. FILE holds { NAME: IPV4 } as JSON and is read for every
// question, so a name exists from the moment it is written. Prints each question with its answer.
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';

const [, , address, file] = process.argv;
const server = createSocket('udp4');
const [typeA, noSuchName] = [1, 3];

/** The name in a question, and where the question ends. */
function question(message) {
  const labels = [];
  let at = 12;
  for (let length = message[at]; length > 0; length = message[at]) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function answer(message) {
  const { name, type, end } = question(message);
  const ip = JSON.parse(readFileSync(file, 'utf8'))[name];
  console.log(`${name} ${ip ?? 'NXDOMAIN'}`);
  const found = ip !== undefined && type === typeA;
  const header = Buffer.from(message.subarray(0, 12));
  // A response, with recursion as the kubelet's resolv.conf expects it; one question, no other sections.
  header.writeUInt16BE(0x8180 | (ip === undefined ? noSuchName : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(found ? 1 : 0, 6);
  header.writeUInt32BE(0, 8);
  const record = [0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 5, 0, 4, ...(ip ?? '').split('.').map(Number)];
  return Buffer.concat([header, message.subarray(12, end), Buffer.from(found ? record : [])]);
}

server.on('message', (message, { port, address: from }) =>
  server.send(answer(message), port, from),
);
server.bind(53, address, () => console.log('ready'));
