import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';

test('posts that met back-pressure wait in order, and behind their own peer only', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-backlog-'));
  try {
    const program = join(folder, 'backlog');
    const source = fileURLToPath(new URL('backlog.cc', import.meta.url));
    execFileSync('g++', ['-std=c++20', '-o', program, source], { stdio: 'inherit' });
    const { exitCode, stdout } = await execa(program, { reject: false });
    expect(stdout).toBe('');
    expect(exitCode).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
