import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { buildProgram } from '../../comparisons/build.mjs';
import { loadLibrary } from '../../src/fabric/library.js';
import { providerName } from '../../src/fabric/providers.js';

interface Held {
  readonly cycle: number;
  readonly residentKiB: number;
  readonly descriptors: number;
}

const run = promisify(execFile);
const program = fileURLToPath(new URL('programs/open-close.mjs', import.meta.url));
/** Small queues open quickly; what leaks is not in them. */
const small = { FI_SHM_TX_SIZE: '16', FI_SHM_RX_SIZE: '16' };
const rxm = ['TX_SIZE', 'RX_SIZE', 'MSG_TX_SIZE', 'MSG_RX_SIZE'].map((name) => [
  `FI_OFI_RXM_${name}`,
  '16',
]);
const env = {
  ...process.env,
  ...small,
  ...Object.fromEntries(rxm),
  FI_OFI_RXM_BUFFER_SIZE: '1024',
};
/** What V8's heap may be off by between two collections. */
const noiseKiB = 3072;

async function inJavaScript(mode: string, provider: string, cycles: number): Promise<Held[]> {
  const args = ['--expose-gc', program, mode, provider, `${cycles}`, `${cycles / 10}`];
  return JSON.parse((await run(process.execPath, args, { env })).stdout).points;
}

async function inC(provider: string, cycles: number): Promise<Held[]> {
  const name = providerName(provider, loadLibrary());
  const args = ['--provider', name, '--cycles', `${cycles}`, '--every', `${cycles / 10}`];
  return JSON.parse((await run(buildProgram('open-close-loop'), args, { env })).stdout).points;
}

/** From the third report on, when caches are full and pools have their size. */
function growth(points: Held[]) {
  const [from, to] = [points[3]!, points.at(-1)!];
  return {
    kibPerCycle: (to.residentKiB - from.residentKiB) / (to.cycle - from.cycle),
    cycles: to.cycle - from.cycle,
    descriptors: to.descriptors - from.descriptors,
  };
}

// 10,000 in all, more where opening is cheap. The loop in C needs fewer: it has no noise.
describe('opening and closing leaks neither memory nor descriptors', () => {
  test.each([
    { mode: 'endpoints', provider: 'shm', cycles: 400, inCycles: 150 },
    { mode: 'endpoints', provider: 'tcp', cycles: 2400, inCycles: 150 },
    { mode: 'endpoints', provider: 'net', cycles: 6800, inCycles: 300 },
    { mode: 'endpoints', provider: 'sockets', cycles: 200, inCycles: 100 },
    { mode: 'whole', provider: 'net', cycles: 200, inCycles: 100 },
  ])('$cycles times $provider, $mode', async ({ mode, provider, cycles, inCycles }) => {
    const [ours, theirs] = await Promise.all([
      inJavaScript(mode, provider, cycles).then(growth),
      inC(provider, inCycles).then(growth),
    ]);
    expect(ours.descriptors).toBe(0);
    const allowedKib = Math.max(0, theirs.kibPerCycle) * ours.cycles + noiseKiB;
    expect(ours.kibPerCycle * ours.cycles).toBeLessThanOrEqual(allowedKib);
  });
});
