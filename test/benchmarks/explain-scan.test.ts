import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { pairs } from '../../src/benchmarks/pairs/pairs.js';
import { explainJob } from '../../src/cli/explain.js';
import { jobOf } from '../../src/runner/job.js';

const folder = mkdtempSync(join(tmpdir(), 'weft-explain-'));
const file = join(folder, 'topology.yaml');
writeFileSync(file, 'leaves:\n  a: n[0000-0511]\n  b: n[0512-1023]\n');
afterAll(() => rmSync(folder, { recursive: true }));

const explained = (given: object, ranks = 2) => explainJob(jobOf(pairs, { ...given }), ranks);

test('a scope is explained for the hosts of the network description', () => {
  const text = explained({ scope: 'all', network: file, channels: 8 });
  expect(text).toContain('scope all: 1024 hosts with one rank each, 2 leaves');
  expect(text).toMatch(/^pairs +10,240 of 523,776 \(at most n · ⌈log2 n⌉ = 10,240\)/m);
  expect(text).toMatch(/^rounds +20;/m);
  expect(text).toMatch(/^NICs +8,192 of 8,192 covered/m);
  expect(text).toMatch(/^crossings +1 of 1 /m);
  expect(text).toMatch(/^time +about \d+s for these rounds/m);
  expect(text).toMatch(/^round 1 +512 pairs, inside leaves: n0000–n0511/m);
  expect(text).toMatch(/^round 2 +512 pairs, across: n0000–n0512/m);
  for (const line of text.split('\n').slice(1)) expect(line.length).toBeLessThanOrEqual(100);
});

test('without a network, for as many hosts as there are ranks', () => {
  const text = explained({ scope: 'all' }, 8);
  expect(text).toMatch(/^pairs +24 of 28 /m);
  expect(text).not.toMatch(/leaves|crossings/);
  expect(explained({}, 8)).toMatch(/^pairs +28 of 28, in both directions$/m);
});

test('each rail alone takes as many times longer', () => {
  const seconds = (given: object) => Number(/about (\d+)s/.exec(explained(given, 4))![1]);
  const given = { scope: 'all', channels: 4, budgetMs: 1000 };
  expect(seconds({ ...given, perRail: true })).toBeGreaterThan(3 * seconds(given));
});
