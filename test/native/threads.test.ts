import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

// The queue and the proxy run GPU threads against a CPU thread, or CPU threads against each other: nothing but a race
// detector over the very sources says that their orderings are right. The addon itself cannot be instrumented.
const root = join(import.meta.dirname, '../..');
const sources = ['queue-run', 'proxy', 'proxy-program', 'pattern'].map((name) =>
  join(root, 'native', `${name}.cc`),
);
const folder = mkdtempSync(join(tmpdir(), 'weft-threads-'));
const program = join(folder, 'queue-threads');

beforeAll(() => {
  const flags = ['-std=c++20', '-O1', '-g', '-fsanitize=thread', '-Wall', '-Wextra', '-pthread'];
  const main = join(root, 'test/native/queue-threads.cc');
  execFileSync('g++', [...flags, main, ...sources, '-o', program], { stdio: 'pipe' });
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('queue and proxy have no data race, lose nothing and keep order', () => {
  const env = { ...process.env, TSAN_OPTIONS: 'halt_on_error=1 exitcode=66' };
  const output = execFileSync(program, { env, encoding: 'utf8', timeout: 250_000 });
  expect(output).not.toContain('FAILED');
  expect(output).toMatch(/done\n$/);
}, 300_000);
