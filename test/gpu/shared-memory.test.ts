import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hostLanding } from '../../src/gpu/ipc.js';
import { addon } from '../../src/native/addon.js';

const bytes = 256 * 2 ** 20;

/** Of shared memory, what this process has touched. */
const residentBytes = () =>
  1024 * Number(/^RssShmem:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]);

test('memory for another process is touched off the thread that asks for it', async () => {
  const before = residentBytes();
  const memory = new (addon().SharedMemory)(bytes);
  expect(residentBytes() - before).toBeLessThan(bytes / 16);
  await memory.prepare().done;
  expect(residentBytes() - before).toBeGreaterThan(bytes * 0.9);
  memory.close();
});

test('a landing is there as a whole when it is handed out', async () => {
  const before = residentBytes();
  using landing = await hostLanding(bytes);
  expect(landing.description).toMatchObject({ kind: 'host', bytes });
  expect(residentBytes() - before).toBeGreaterThan(bytes * 0.9);
});

test('one that nobody waits for any more is not handed out', async () => {
  await expect(hostLanding(4096, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
});
