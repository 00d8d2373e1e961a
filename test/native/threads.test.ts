import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

// The queue and the proxy run GPU threads against a CPU thread, or CPU threads against each other: nothing but a race
// detector over the very sources says that their orderings are right. The addon itself cannot be instrumented.
const root = join(import.meta.dirname, '../..');
const sources = ['gpu/queue-run', 'proxy/proxy', 'proxy/proxy-program', 'memory/pattern'].map(
  (name) => join(root, 'native', `${name}.cc`),
);
const programs = ['queue-threads', 'proxy-threads'];
const folder = mkdtempSync(join(tmpdir(), 'weft-threads-'));

beforeAll(() => {
  const flags = ['-std=c++20', '-O1', '-g', '-fsanitize=thread', '-Wall', '-Wextra', '-pthread'];
  for (const name of programs) {
    const main = join(import.meta.dirname, `${name}.cc`);
    const built = join(folder, name);
    execFileSync('g++', [...flags, main, ...sources, '-o', built], { stdio: 'pipe' });
  }
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(programs)(
  '%s have no data race, lose nothing and keep order',
  (name) => {
    const env = { ...process.env, TSAN_OPTIONS: 'halt_on_error=1 exitcode=66' };
    const output = execFileSync(join(folder, name), { env, encoding: 'utf8', timeout: 250_000 });
    expect(output).not.toContain('FAILED');
    expect(output).toMatch(/done\n$/);
  },
  300_000,
);
