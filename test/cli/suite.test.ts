import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Desk } from '../benchmarks/weft.js';
import { freePort, rankEnv } from '../world/ranks-in-process.js';

test('ranks with different suite files are told so at once', async () => {
  using desk = new Desk();
  const defaults = 'defaults: { minBytes: 4K, maxBytes: 4K, columns: SinglePin, provider: tcp }';
  for (const iterations of [4, 5]) {
    const runs = `runs:\n- { benchmark: write, iterations: ${iterations} }\n`;
    writeFileSync(join(desk.folder, `suite-${iterations}.yaml`), `${defaults}\n${runs}`);
  }
  const place = { port: await freePort(), size: 3 };
  const [first, ...others] = await Promise.all(
    [5, 4, 4].map((iterations, rank) =>
      desk.weft(`suite suite-${iterations}.yaml`, rankEnv(rank, place)),
    ),
  );
  expect(first!.stderr).toMatch(/rank 0 \(\S+\) reads another suite file than rank 1 \(/);
  for (const { exitCode } of [first!, ...others]) expect(exitCode).toBeGreaterThan(0);
});

test('what one rank cannot run is skipped by all', async () => {
  using desk = new Desk();
  const lines = ['tcp', 'shm'].map((provider) => `- { benchmark: write, provider: ${provider} }`);
  const defaults = 'defaults: { minBytes: 4K, maxBytes: 4K, iterations: 4, columns: SinglePin }';
  writeFileSync(join(desk.folder, 'suite.yaml'), `${defaults}\nruns:\n${lines.join('\n')}\n`);
  const place = { port: await freePort(), size: 2 };
  const [first, second] = await Promise.all([
    desk.weft('suite suite.yaml', rankEnv(0, place)),
    desk.weft('suite suite.yaml', { ...rankEnv(1, place), FI_PROVIDER: 'shm' }),
  ]);
  expect(first.stderr).toMatch(/skipped write: on \S+ \(rank 1\), libfabric has no usable .*tcp/);
  expect(first.stdout).toMatch(/^write · shm .*2 ranks/);
  expect([first.exitCode, second.exitCode], second.stderr).toEqual([0, 0]);
});
