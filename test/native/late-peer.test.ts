import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const addon = new URL('../../dist/native/addon.js', import.meta.url);

describe('a library that opens and closes beside JavaScript', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-late-'));
  const library = join(folder, 'late.so');
  const program = join(folder, 'end.mjs');

  beforeAll(() => {
    const source = fileURLToPath(new URL('late-peer.cc', import.meta.url));
    const flags = ['-std=c++20', '-shared', '-fPIC'];
    execFileSync('g++', [...flags, '-o', library, source], { stdio: 'inherit' });
    // Nobody waits for the library, as for one that is given up.
    writeFileSync(
      program,
      `import { addon } from ${JSON.stringify(addon.href)};
      const peer = new (addon().Peer)(${JSON.stringify(library)}, 'shim');
      const waiting = setInterval(() => {}, 1000);
      let opening = true;
      const opened = peer.open({ rank: 0, size: 1, gpu: 0, networkInterface: '', timeoutMs: 1000,
        sourceBytes: 64, targetBytes: 64, elementBytes: 4 }).finally(() => { opening = false; });
      const kept = [];
      while (opening && kept.length < 30_000) {
        for (let i = 0; i < 100; i++) kept.push(new Uint8Array(1000).fill(7));
        await new Promise(setImmediate);
      }
      await opened;
      if (!kept.every((bytes) => bytes.every((byte) => byte === 7))) throw new Error('bytes changed');
      clearInterval(waiting);
      void peer.close();`,
    );
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('does not crash the process that ends, whenever it returns', {
    timeout: 60_000,
  }, async () => {
    const ends = [];
    for (let delayMs = 0; delayMs < 24; delayMs += 2) {
      const env = { CLOSE_US: String(1000 * delayMs) };
      const { exitCode, signal } = await execa(process.execPath, [program], { env, reject: false });
      ends.push({ delayMs, exitCode, signal });
    }
    expect(ends.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
  });

  test('may move the end of the heap while JavaScript allocates', async () => {
    const env = { HEAP_MOVES: '500' };
    const { exitCode, signal, stderr } = await execa(process.execPath, [program], {
      env,
      reject: false,
    });
    expect({ exitCode, signal }, stderr).toEqual({ exitCode: 0, signal: undefined });
  });
});
