import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const addon = new URL('../../dist/native/addon.js', import.meta.url);

describe('a library that closes while the process ends', () => {
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
      await peer.open({ rank: 0, size: 1, gpu: 0, networkInterface: '', timeoutMs: 1000,
        sourceBytes: 64, targetBytes: 64, elementBytes: 4 });
      clearInterval(waiting);
      void peer.close();`,
    );
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('does not crash it, whenever it returns', { timeout: 60_000 }, async () => {
    const ends = [];
    for (let delayMs = 0; delayMs < 24; delayMs += 2) {
      const env = { CLOSE_US: String(1000 * delayMs) };
      const { exitCode, signal } = await execa(process.execPath, [program], { env, reject: false });
      ends.push({ delayMs, exitCode, signal });
    }
    expect(ends.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
  });
});
